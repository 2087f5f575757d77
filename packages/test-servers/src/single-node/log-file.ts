import type { SpawnOptions } from "node:child_process";
import { closeSync, openSync } from "node:fs";

/** Appends the output of the next spawned process to a file. */
export function appendOutputTo(file: string): SpawnOptions {
  const descriptor = openSync(file, "a", 0o644);
  // The process has its own copy by then.
  setImmediate(() => closeSync(descriptor));
  return { stdio: ["ignore", descriptor, descriptor] };
}
