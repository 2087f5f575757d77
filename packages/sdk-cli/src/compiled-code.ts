import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

/** Keeps compiled code for the next start, unless NODE_COMPILE_CACHE names a place for it. */
export function keepCompiledCode(): void {
  if (process.env["NODE_COMPILE_CACHE"] === undefined) enableCompileCache(join(homedir(), ".flyte-ts", "compiled"));
}
