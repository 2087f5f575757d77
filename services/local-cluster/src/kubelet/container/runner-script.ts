import { readFileSync } from "node:fs";

/** Argument in the command line of runners, and of their children until they become the command. */
export const RUNNER_NAME = "flyte-ts-runner";

/**
 * Runner: the process between this service and a container's command. It lets the container outlive
 * the service without losing the exit code, and leads its own session and process group. Arguments:
 * the run's directory, then the command.
 * - It claims the run by creating `pid` (`set -C` never overwrites), so a run executes at most
 *   once, however often it
 * is started. The file holds the runner's line of /proc/<pid>/stat: pid, group, session, start
 * time.
 * - Signals to the group reach the command; the runner handles them and keeps waiting. The command
 *   does not inherit
 * handlers, unlike ignored signals.
 * - It writes the exit code to `exit` when the command has ended; the file's time is the end time.
 */
export const RUNNER_SCRIPT = `
run=$1
shift
read -r stat < /proc/$$/stat || exit 125
set -C
echo "$stat" > "$run/pid" || exit 125
set +C
trap : HUP INT QUIT TERM USR1 USR2 ALRM
"$@" < /dev/null >> "$run/log" 2>&1
code=$?
echo "$code" > "$run/exit"
exit "$code"
`;

/** True when the runner has started the command, or when that cannot be determined. */
export function hasCommandStarted(runnerPid: number): boolean {
  try {
    const children = readFileSync(`/proc/${runnerPid}/task/${runnerPid}/children`, "latin1").trim();
    return (
      children !== "" &&
      children.split(" ").every((pid) => !readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0").includes(RUNNER_NAME))
    );
  } catch {
    return true;
  }
}
