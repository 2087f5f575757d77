// Programs that this process runs and whose lives are tied to its own: for as long as one runs, the signals that end this process
// go to it, and so does the end of the npm that started this process.
// Written for the Node that a machine happens to have, without dependencies.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];
/** Pause between two looks at the parent process, ms. */
const PARENT_POLL_MS = 500;
/** Time that a group of processes has to end after a signal before it is killed, ms. */
const GROUP_PATIENCE_MS = 10_000;

/**
 * Runs a program. Resolves to how it ended: `code` or `signal`, and `asked`, the first signal that was passed on to it.
 *
 * @param {{ group?: boolean, onChild?: (child: import("node:child_process").ChildProcess) => void } & import("node:child_process").SpawnOptions} options
 *   `group`: the program gets a process group, all of which is signalled, and killed when it does not end.
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
      // It has just ended.
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

/** Exit status of a process that a signal has ended, as shells count it. */
export function statusOf({ code, signal }) {
  return signal ? 128 + (constants.signals[signal] ?? 1) : (code ?? 1);
}

/** Names of programs that run an npm script, or that a container is started with to run one. */
const RUNNERS = /\b(npm|npx|pnpm|yarn|bun|node|nodejs|sh|ash|bash|dash|zsh)\b/;

/**
 * Calls back once when the process that started this one has ended, if that was npm or the shell of an npm script: npm passes SIGTERM
 * and SIGINT to its script, but the shell between them passes nothing on, and neither does an npm that is killed or loses its terminal.
 * It may have ended before this process could look, of a closed output for instance: then some init is the parent already.
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

/** Whether a process may be one that runs npm scripts; any but the first may where commands of other processes cannot be read. */
function mayRunScripts(pid) {
  try {
    return RUNNERS.test(readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "));
  } catch {
    return pid !== 1;
  }
}
