// Child processes whose lives are tied to this one: while one runs, it receives the signals that
// stop this process, and it is stopped when the npm that started this process exits. Runs on any
// installed Node, without dependencies.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];
/** Interval between two checks of the parent process, ms. */
const PARENT_POLL_MS = 500;
/** Time that a process group has to exit after a signal before it is killed, ms. */
const GROUP_PATIENCE_MS = 10_000;

/**
 * Runs a program. Resolves to its exit: `code` or `signal`, and `asked`, the first signal that was
 * forwarded.
 *
 * @param {{ group?: boolean, onChild?: (child: import("node:child_process").ChildProcess) => void }
 * & import("node:child_process").SpawnOptions} options
 * `group`: starts a process group, all of which is signalled, and killed when it does not exit.
 */
export function attended(command, args, { group = false, onChild, ...options } = {}) {
  const child = spawn(command, args, { ...options, detached: group });
  onChild?.(child);
  let asked;
  let killing;
  const send = (signal) => {
    try {
      if (group && child.pid !== undefined) process.kill(-child.pid, signal);
      else child.kill(signal);
    } catch {
      // It has just exited.
    }
  };
  const pass = (signal) => {
    asked ??= signal;
    send(signal);
    if (group) killing ??= setTimeout(() => send("SIGKILL"), GROUP_PATIENCE_MS);
  };
  for (const signal of SIGNALS) process.on(signal, pass);
  const watch = watchParent(() => pass("SIGHUP"));
  return new Promise((resolve, reject) => {
    const over = () => {
      for (const signal of SIGNALS) process.off(signal, pass);
      clearInterval(watch);
      clearTimeout(killing);
    };
    child.once("error", (error) => {
      over();
      reject(error);
    });
    child.once("close", (code, signal) => {
      over();
      resolve({ code, signal, asked });
    });
  });
}

/** Exit code as shells compute it: 128 plus the number of the signal that ended the process. */
export function statusOf({ code, signal }) {
  return signal ? 128 + (constants.signals[signal] ?? 1) : (code ?? 1);
}

/** Names of programs that run an npm script, or that a container starts to run one. */
const RUNNERS = /\b(npm|npx|pnpm|yarn|bun|node|nodejs|sh|ash|bash|dash|zsh)\b/;

/**
 * Calls back once when the parent process has exited, if that was npm or the shell of an npm
 * script: npm forwards SIGTERM and SIGINT to its script, but the shell between them does not, and
 * neither does a killed npm or one that loses its terminal. The parent may have exited before the
 * first check; init is the parent then.
 */
function watchParent(gone) {
  if (process.env.npm_lifecycle_event === undefined) return undefined;
  const parent = process.ppid;
  const orphaned = !mayRunScripts(parent);
  const timer = setInterval(() => {
    if (process.ppid === parent && !orphaned) return;
    clearInterval(timer);
    gone();
  }, PARENT_POLL_MS);
  timer.unref();
  return timer;
}

/**
 * Reports whether a process may run npm scripts; any but process 1 may where command lines are not
 * readable.
 */
function mayRunScripts(pid) {
  try {
    return RUNNERS.test(readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "));
  } catch {
    return pid !== 1;
  }
}
