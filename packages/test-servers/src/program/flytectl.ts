import { findGoProgram, type GoProgram } from "./go-program.js";

const FLYTECTL: GoProgram = {
  name: "flytectl",
  version: "0.9.8",
  module: "flytectl",
  mainPackage: "github.com/flyteorg/flyte/flytectl",
  overrideVariable: "FLYTE_TS_FLYTECTL",
};

/**
 * Finds stock flytectl for tests: `FLYTE_TS_FLYTECTL`, the cache, the PATH, or built once from its
 * Go module.
 */
export function findFlytectl(onProgress?: (what: string) => void): Promise<string> {
  return findGoProgram(FLYTECTL, { onProgress });
}
