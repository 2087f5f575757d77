import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";

/**
 * Ends child processes when the parent exits, even if SIGKILL ended the parent. Children with a
 * session of their own get no signal from the terminal, and the kernel does not inform a child that
 * its parent was killed.
 */
export interface ProcessWatchdog {
  /** Process id of the watchdog itself. */
  readonly pid: number | undefined;
  /**
   * Ends the process together with this one, unless it has ended before; first by `signal`, finally
   * by SIGKILL.
   */
  watch(child: ChildProcess, signal?: NodeJS.Signals): void;
}

/** Part of the watchdog's command line. */
const WATCHDOG_NAME = "flyte-ts-watchdog";

/**
 * Tracks the processes in its arguments (`PID:SIGNAL`) and those added later (`+ PID SIGNAL`, `-
 * PID`) until the pipe is closed, which the kernel does when the parent exits. Then it signals each
 * process twice (a process that is already stopping ends at once on the second signal) and kills it
 * after eight seconds. It is a shell script, to use little memory and to keep running after the
 * parent.
 */
const SCRIPT = `
trap "" HUP INT QUIT TERM
watched=$*
while read -r sign pid signal; do
  kept=
  for entry in $watched; do
    [ "\${entry%%:*}" = "$pid" ] || kept="$kept $entry"
  done
  watched=$kept
  [ "$sign" = + ] && watched="$watched $pid:$signal"
done
tenths=0
while :; do
  left=
  for entry in $watched; do
    pid=\${entry%%:*}
    kill -0 "$pid" 2> /dev/null || continue
    # A zombie has ended; its parent has not collected it yet.
    stat=
    read -r stat 2> /dev/null < "/proc/$pid/stat"
    case \${stat##*) } in Z*) continue ;; esac
    left="$left $entry"
  done
  watched=$left
  [ -n "$watched" ] || exit 0
  for entry in $watched; do
    pid=\${entry%%:*}
    case $tenths in
      0 | 40) kill -s "\${entry#*:}" "$pid" 2> /dev/null ;;
      80) kill -s KILL "$pid" 2> /dev/null ;;
    esac
  done
  [ $tenths -le 100 ] || exit 1
  sleep 0.1
  tenths=$((tenths + 1))
done
`;

/** Delay before a killed watchdog is replaced, ms. */
const RESPAWN_DELAY_MS = 100;

/** True for a watchdog of any process. */
export function isWatchdog(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(WATCHDOG_NAME);
  } catch {
    return false;
  }
}

/**
 * Starts the watchdog of this process, which runs as long as this process and until all watched
 * processes have ended.
 */
export function startWatchdog(): ProcessWatchdog {
  const watched = new Map<number, string>();
  let watchdog = spawnWatchdog();

  function spawnWatchdog(): ChildProcess {
    // Passed as arguments, since this process may be killed before it can send them.
    const entries = [...watched].map(([pid, signal]) => `${pid}:${signal}`);
    const child = spawn("/bin/sh", ["-c", SCRIPT, WATCHDOG_NAME, ...entries], {
      cwd: "/",
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    // Neither the watchdog nor the pipe to it keeps this process alive.
    child.unref();
    (child.stdin as Socket | null)?.unref();
    child.stdin?.on("error", () => undefined);
    child.once("error", () => undefined);
    child.once("exit", () => setTimeout(() => (watchdog = spawnWatchdog()), RESPAWN_DELAY_MS).unref());
    return child;
  }

  function send(line: string): void {
    watchdog.stdin?.write(`${line}\n`);
  }

  return {
    get pid() {
      return watchdog.pid;
    },
    watch(child, signal = "SIGTERM") {
      const { pid } = child;
      if (pid === undefined) return;
      const name = signal.replace(/^SIG/, "");
      watched.set(pid, name);
      send(`+ ${pid} ${name}`);
      child.once("exit", () => {
        watched.delete(pid);
        send(`- ${pid}`);
      });
    },
  };
}
