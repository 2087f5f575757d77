import { findGoProgram, type GoProgram } from "./go-program.js";

const VERSION = "3.22.0";
const HELM: GoProgram = {
  name: "helm",
  version: VERSION,
  module: "helm",
  mainPackage: "helm.sh/helm/v3/cmd/helm",
  linkerFlags: `-X helm.sh/helm/v3/internal/version.version=v${VERSION}`,
  overrideVariable: "FLYTE_TS_HELM",
};

/** Finds Helm for tests: `FLYTE_TS_HELM`, the cache, the PATH, or built once from its Go module. */
export function findHelm(onProgress?: (what: string) => void): Promise<string> {
  return findGoProgram(HELM, { onProgress });
}
