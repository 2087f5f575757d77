import { readFileSync } from "node:fs";

/**
 * Reads a figure of a process's memory from `/proc`, MiB: its resident set now (`VmRSS`), or the
 * largest so far (`VmHWM`). Linux only.
 */
export function memoryMib(pid: number, field: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024);
}
