import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";

/**
 * Ends processes when the one that started them is gone, however it went: those that have a session
 * of their own get no signal of the terminal, and nobody tells a child that its parent was killed.
 */
export interface Guard {
  /** Process of the guard itself. */
  readonly pid: number | undefined;
  /** Ends the process with this one, if it has not ended before; it is asked to by `signal`, and killed in the end. */
  watch(child: ChildProcess, signal?: NodeJS.Signals): void;
}

/** Stands in the guard's command line. */
const GUARD_NAME = "flyte-ts-guard";

/**
 * Holds the processes that it is started with (`PID:SIGNAL`) and those that are told to it (`+ PID SIGNAL`,
 * `- PID`) until the pipe is closed, which the kernel does for whoever dies. Then each is asked twice (who is stopping already ends at once
 * when asked again) and killed after eight seconds. It is a shell, for it is to cost nothing and to outlive everything.
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
    # Dead, and nobody has taken note of it.
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

/** A guard that somebody killed is replaced after this time, ms. */
const AGAIN_MS = 100;

/** Whether the process is a guard, of whomever. */
export function isGuard(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(GUARD_NAME);
  } catch {
    return false;
  }
}

/** Starts a guard of this process, which lives as long as it, and until all that was watched is gone. */
export function startGuard(): Guard {
  const watched = new Map<number, string>();
  let guard = spawnGuard();

  function spawnGuard(): ChildProcess {
    // What is watched already stands in its arguments: this process may be killed before it can tell.
    const entries = [...watched].map(([pid, signal]) => `${pid}:${signal}`);
    const child = spawn("/bin/sh", ["-c", SCRIPT, GUARD_NAME, ...entries], {
      cwd: "/",
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    // Neither keeps this process alive.
    child.unref();
    (child.stdin as Socket | null)?.unref();
    child.stdin?.on("error", () => undefined);
    child.once("error", () => undefined);
    child.once("exit", () => setTimeout(() => (guard = spawnGuard()), AGAIN_MS).unref());
    return child;
  }

  function tell(line: string): void {
    guard.stdin?.write(`${line}\n`);
  }

  return {
    get pid() {
      return guard.pid;
    },
    watch(child, signal = "SIGTERM") {
      const { pid } = child;
      if (pid === undefined) return;
      const name = signal.replace(/^SIG/, "");
      watched.set(pid, name);
      tell(`+ ${pid} ${name}`);
      child.once("exit", () => {
        watched.delete(pid);
        tell(`- ${pid}`);
      });
    },
  };
}
