import { readFileSync } from "node:fs";

/** Stands in the command line of runners, and of their children until these become the command. */
export const RUNNER_NAME = "flyte-ts-runner";

/**
 * The process that stands between this service and a container's command, so
 * that a container outlives the service and its exit code is not lost. It is the
 * leader of a session and process group of its own. Arguments: the run's folder,
 * then the command.
 *
 * - The run is claimed by creating `pid` (never overwritten: `set -C`), so a run
 *   is executed at most once however often it is started. The file holds the
 *   runner's line of /proc/<pid>/stat: pid, group, session, start time.
 * - Signals to the group reach the command; the runner only notes them and waits.
 *   Handlers, unlike ignored signals, are not passed on to the command.
 * - The exit code is in `exit` when the command has ended; the time is the file's.
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

/** Whether the runner's command runs; true where the machine cannot say. */
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
