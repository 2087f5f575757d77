import { readFileSync } from "node:fs";

/** Clock ticks per second in /proc on Linux. */
const TICKS_PER_SECOND = 100;

/** Processor time that a process has used, s. */
export function cpuSecondsOf(pid: number): number {
  // Fields 14 and 15 count from after the command name, which may contain spaces and ends at the
  // last parenthesis.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
