import { readFileSync } from "node:fs";

/**
 * Reads a figure of a process's memory from `/proc`, bytes: its resident set now (`VmRSS`), or the
 * largest so far (`VmHWM`). Linux only.
 *
 * @throws Error when the process does not exist
 */
export function memoryBytes(pid: number, field: "VmRSS" | "VmHWM"): number {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  if (found === null) throw new Error(`/proc/${pid}/status has no ${field}`);
  return Number(found[1]) * 1024;
}

/** Reads the same figure in MiB, rounded. */
export function memoryMib(pid: number, field: "VmRSS" | "VmHWM"): number {
  return Math.round(memoryBytes(pid, field) / 1024 ** 2);
}
