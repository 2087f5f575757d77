import { readFileSync } from "node:fs";

/** Clock ticks in a second, as /proc counts processor time on every Linux. */
const TICKS = 100;

/** Seconds of a processor that a process has used so far. */
export function processorSeconds(pid: number): number {
  // Fields 14 and 15; the second may hold spaces and ends with the last parenthesis.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}
