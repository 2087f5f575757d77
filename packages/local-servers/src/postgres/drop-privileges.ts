import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Program, arguments and ids for a command that refuses to run as root. */
export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Rewrites a command so that root runs it as `nobody`. Folders on the way to `paths` may be closed
 * to other users (as a home folder with mode 0700 is): then the process keeps the one capability to
 * traverse them, by setpriv. For every other user the command is unchanged.
 */
export function dropPrivileges(command: string, args: readonly string[], paths: readonly string[]): CommandLine {
  if (process.getuid?.() !== 0) return { command, args };
  const { uid, gid } = nobodyIds();
  if (paths.every((path) => isTraversable(path))) return { command, args, uid, gid };
  const drop = [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--inh-caps=+dac_override", "--ambient-caps=+dac_override"];
  return { command: "setpriv", args: [...drop, command, ...args] };
}

interface UserIds {
  readonly uid: number;
  readonly gid: number;
}

let cachedIds: UserIds | undefined;

/** User and group ids of `nobody`, cached: a start of a database needs them four times. */
export function nobodyIds(): UserIds {
  if (cachedIds !== undefined) return cachedIds;
  const output = execFileSync("id", ["nobody"], { encoding: "utf8" });
  const [, uid, gid] = /^uid=(\d+)\S* gid=(\d+)/.exec(output) ?? [];
  if (uid === undefined) throw new Error(`id nobody: ${output.trim()}`);
  cachedIds = { uid: Number(uid), gid: Number(gid) };
  return cachedIds;
}

function isTraversable(path: string): boolean {
  for (let dir = dirname(resolve(path)); ; dir = dirname(dir)) {
    if ((statSync(dir).mode & 0o001) === 0) return false;
    if (dir === dirname(dir)) return true;
  }
}
