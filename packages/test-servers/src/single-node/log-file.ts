import type { SpawnOptions } from "node:child_process";
import { closeSync, openSync } from "node:fs";

/** Appends the output of the next spawned process to a file. */
export function appendOutputTo(file: string): SpawnOptions {
  const descriptor = openSync(file, "a", 0o644);
  // By then the child process has its own copy of the descriptor.
  setImmediate(() => closeSync(descriptor));
  return { stdio: ["ignore", descriptor, descriptor] };
}
