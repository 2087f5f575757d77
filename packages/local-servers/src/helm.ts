import { findGoProgram, type GoProgram } from "./go-program.js";

const VERSION = "3.22.0";
const HELM: GoProgram = {
  name: "helm",
  version: VERSION,
  module: "helm",
  package: "helm.sh/helm/v3/cmd/helm",
  linkerFlags: `-X helm.sh/helm/v3/internal/version.version=v${VERSION}`,
  variable: "FLYTE_TS_HELM",
};

/** Path of Helm, for tests: the one that `FLYTE_TS_HELM` names, of the cache or the PATH, or built from its Go module, once. */
export function findHelm(onBuild?: (what: string) => void): Promise<string> {
  return findGoProgram(HELM, { onBuild });
}
