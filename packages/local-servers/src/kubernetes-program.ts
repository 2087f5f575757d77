import { findGoProgram } from "./go-program.js";

const VERSION = "1.34.1";

/** Kubernetes programs that can be built here, and the variables that override them. */
const VARIABLES = {
  "kube-apiserver": "FLYTE_TS_KUBE_APISERVER",
  "kube-controller-manager": "FLYTE_TS_KUBE_CONTROLLER_MANAGER",
  "kube-scheduler": "FLYTE_TS_KUBE_SCHEDULER",
  kubelet: "FLYTE_TS_KUBELET",
} as const;

export type KubernetesProgram = keyof typeof VARIABLES;

const stamp = (name: string, value: string) => `-X k8s.io/component-base/version.${name}=${value}`;

export function findKubernetesProgram(name: KubernetesProgram, onBuild?: (what: string) => void): Promise<string> {
  const program = {
    name,
    version: VERSION,
    module: "kubernetes",
    package: `k8s.io/kubernetes/cmd/${name}`,
    linkerFlags: [stamp("gitVersion", `v${VERSION}`), stamp("gitMajor", "1"), stamp("gitMinor", "34")].join(" "),
    variable: VARIABLES[name],
  };
  return findGoProgram(program, { onBuild });
}
