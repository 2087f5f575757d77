import { readFileSync } from "node:fs";

export interface ProcessStat {
  readonly pid: number;
  readonly state: string;
  readonly ppid: number;
  /** Process group. */
  readonly group: number;
  readonly session: number;
  /** Start time in clock ticks since boot; identifies the process together with the pid. */
  readonly startTicks: string;
}

/** Reads `/proc/<pid>/stat`; undefined when the process does not exist. */
export function processStat(pid: number): ProcessStat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return undefined;
  }
}

/** Parses the fields after the command, which is in parentheses and may contain anything. */
export function parseStat(text: string): ProcessStat | undefined {
  const close = text.lastIndexOf(")");
  const fields = text
    .slice(close + 2)
    .trimEnd()
    .split(" ");
  const pid = Number.parseInt(text, 10);
  if (close < 0 || fields.length < 20 || !Number.isInteger(pid)) return undefined;
  return {
    pid,
    state: fields[0] ?? "",
    ppid: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    startTicks: fields[19] ?? "",
  };
}
