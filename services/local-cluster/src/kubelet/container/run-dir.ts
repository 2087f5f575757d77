import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseStat, type ProcessStat, processStat } from "../../process-stat.js";

/** The files of one start of a container. */
export interface RunDir {
  readonly path: string;
  readonly attempt: number;
}

export const logFile = (run: RunDir) => join(run.path, "log");
export const logTimesFile = (run: RunDir) => join(run.path, "log.times");

/** Starts of a container that have left traces, oldest first. */
export function findRuns(containerFolder: string): readonly RunDir[] {
  if (!existsSync(containerFolder)) return [];
  return readdirSync(containerFolder)
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ path: join(containerFolder, name), attempt: Number(name) }))
    .sort((a, b) => a.attempt - b.attempt);
}

/** A folder for one more start; of the earlier ones only the last is kept. */
export function createRun(containerFolder: string, attempt: number): RunDir {
  for (const old of findRuns(containerFolder)) if (old.attempt < attempt - 1) rmSync(old.path, { recursive: true, force: true });
  const path = join(containerFolder, String(attempt));
  mkdirSync(path, { recursive: true });
  return { path, attempt };
}

/** The runner as it was when it claimed the run, with the time of that in ms; undefined before. */
export function readClaim(run: RunDir): { stat: ProcessStat; at: number } | undefined {
  const path = join(run.path, "pid");
  try {
    const stat = parseStat(readFileSync(path, "utf8"));
    return stat === undefined ? undefined : { stat, at: statSync(path).mtimeMs };
  } catch {
    return undefined;
  }
}

/** A runner has claimed the run, though it may not have written down yet who it is. */
export function isClaimed(run: RunDir): boolean {
  return existsSync(join(run.path, "pid"));
}

/** The exit code and time of the end, once written in full. */
export function readExit(run: RunDir): { code: number; at: number } | undefined {
  const path = join(run.path, "exit");
  try {
    const text = readFileSync(path, "utf8");
    return text.endsWith("\n") ? { code: Number(text), at: statSync(path).mtimeMs } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the runner that claimed the run still lives; a recycled pid has another start time. */
export function isAlive({ pid, startTicks }: ProcessStat): boolean {
  const now = processStat(pid);
  return now !== undefined && now.startTicks === startTicks && now.state !== "Z";
}

/** Why a run was ended from outside, kept across restarts of the service: `oom`, `killed`; or why it never began. */
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

/** Records an end without a process: a command that cannot be run. */
export function writeExit(run: RunDir, code: number): void {
  writeFileSync(join(run.path, "exit"), `${code}\n`);
}
