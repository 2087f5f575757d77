import { findGoProgram, type GoProgram } from "./go-program.js";

const FLYTECTL: GoProgram = {
  name: "flytectl",
  version: "0.9.8",
  module: "flytectl",
  package: "github.com/flyteorg/flyte/flytectl",
  variable: "FLYTE_TS_FLYTECTL",
};

/** Path of stock flytectl, for tests: the one that `FLYTE_TS_FLYTECTL` names, of the cache or the PATH, or built from its Go module, once. */
export function findFlytectl(onBuild?: (what: string) => void): Promise<string> {
  return findGoProgram(FLYTECTL, { onBuild });
}
