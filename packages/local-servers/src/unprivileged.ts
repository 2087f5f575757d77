import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Program, arguments and ids for a command that refuses to run as root. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Rewrites a command so that root runs it as `nobody`. Folders on the way to `paths` may be closed to other users (as a
 * home folder with mode 0700 is): then the process keeps the one capability to traverse them, by setpriv. For every
 * other user the command is unchanged.
 */
export function unprivileged(command: string, args: readonly string[], paths: readonly string[]): Launch {
  if (process.getuid?.() !== 0) return { command, args };
  const { uid, gid } = nobody();
  if (paths.every((path) => reachable(path))) return { command, args, uid, gid };
  const drop = [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--inh-caps=+dac_override", "--ambient-caps=+dac_override"];
  return { command: "setpriv", args: [...drop, command, ...args] };
}

interface Ids {
  readonly uid: number;
  readonly gid: number;
}

let known: Ids | undefined;

/** User and group ids of `nobody`, cached: a start of a database needs them four times. */
export function nobody(): Ids {
  if (known !== undefined) return known;
  const told = execFileSync("id", ["nobody"], { encoding: "utf8" });
  const [, uid, gid] = /^uid=(\d+)\S* gid=(\d+)/.exec(told) ?? [];
  if (uid === undefined) throw new Error(`id nobody: ${told.trim()}`);
  known = { uid: Number(uid), gid: Number(gid) };
  return known;
}

function reachable(path: string): boolean {
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}
