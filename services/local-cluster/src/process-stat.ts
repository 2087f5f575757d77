import { readFileSync } from "node:fs";

export interface ProcessStat {
  readonly pid: number;
  readonly state: string;
  readonly ppid: number;
  /** Process group. */
  readonly group: number;
  readonly session: number;
  /** Clock ticks since boot; together with the pid it names one process for good. */
  readonly startTicks: string;
}

/** Reads `/proc/<pid>/stat`; undefined when there is no such process. */
export function processStat(pid: number): ProcessStat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return undefined;
  }
}

/** Fields after the command, which stands in parentheses and may hold anything. */
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
