import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseStat, type ProcessStat, processStat } from "../../process-stat.js";

/** Files of one run of a container. */
export interface RunDir {
  readonly path: string;
  readonly attempt: number;
}

export const logFile = (run: RunDir) => join(run.path, "log");
export const logTimesFile = (run: RunDir) => join(run.path, "log.times");

/** Lists runs with files, oldest first. */
export function findRuns(containerFolder: string): readonly RunDir[] {
  if (!existsSync(containerFolder)) return [];
  return readdirSync(containerFolder)
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ path: join(containerFolder, name), attempt: Number(name) }))
    .sort((a, b) => a.attempt - b.attempt);
}

/** Creates the directory of another run; keeps only the last of the earlier ones. */
export function createRun(containerFolder: string, attempt: number): RunDir {
  for (const old of findRuns(containerFolder)) if (old.attempt < attempt - 1) rmSync(old.path, { recursive: true, force: true });
  const path = join(containerFolder, String(attempt));
  mkdirSync(path, { recursive: true });
  return { path, attempt };
}

/**
 * Returns the runner's /proc stat at the time of the claim, and that time in ms; undefined before
 * the claim.
 */
export function readClaim(run: RunDir): { stat: ProcessStat; at: number } | undefined {
  const path = join(run.path, "pid");
  try {
    const stat = parseStat(readFileSync(path, "utf8"));
    return stat === undefined ? undefined : { stat, at: statSync(path).mtimeMs };
  } catch {
    return undefined;
  }
}

/** True when a runner has claimed the run, possibly without having written its stat yet. */
export function isClaimed(run: RunDir): boolean {
  return existsSync(join(run.path, "pid"));
}

/** Returns exit code and end time, once written completely. */
export function readExit(run: RunDir): { code: number; at: number } | undefined {
  const path = join(run.path, "exit");
  try {
    const text = readFileSync(path, "utf8");
    return text.endsWith("\n") ? { code: Number(text), at: statSync(path).mtimeMs } : undefined;
  } catch {
    return undefined;
  }
}

/** True when the runner of the claim still runs; a reused pid has another start time. */
export function isAlive({ pid, startTicks }: ProcessStat): boolean {
  const now = processStat(pid);
  return now !== undefined && now.startTicks === startTicks && now.state !== "Z";
}

/**
 * Records why a run was ended from outside or never started: `OOMKilled`, `StartError`. Survives
 * restarts of the service.
 */
export function writeCause(run: RunDir, cause: { readonly reason: string; readonly message: string }): void {
  writeFileSync(join(run.path, "cause"), JSON.stringify(cause));
}

export function readCause(run: RunDir): { reason: string; message: string } | undefined {
  try {
    return JSON.parse(readFileSync(join(run.path, "cause"), "utf8")) as { reason: string; message: string };
  } catch {
    return undefined;
  }
}

/** Records an exit code without a process, for commands that cannot be started. */
export function writeExit(run: RunDir, code: number): void {
  writeFileSync(join(run.path, "exit"), `${code}\n`);
}
