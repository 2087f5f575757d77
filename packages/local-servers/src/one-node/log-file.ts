import type { SpawnOptions } from "node:child_process";
import { closeSync, openSync } from "node:fs";

/** Has the process that is spawned next write what it says to the end of a file. */
export function logTo(file: string): SpawnOptions {
  const descriptor = openSync(file, "a", 0o644);
  // The process has a copy of its own by then.
  setImmediate(() => closeSync(descriptor));
  return { stdio: ["ignore", descriptor, descriptor] };
}
