import { findGoProgram } from "../program/go-program.js";

const VERSION = "1.34.1";

/** Kubernetes programs that can be built here, and the variables that override them. */
const OVERRIDE_VARIABLES = {
  "kube-apiserver": "FLYTE_TS_KUBE_APISERVER",
  "kube-controller-manager": "FLYTE_TS_KUBE_CONTROLLER_MANAGER",
  "kube-proxy": "FLYTE_TS_KUBE_PROXY",
  "kube-scheduler": "FLYTE_TS_KUBE_SCHEDULER",
  kubelet: "FLYTE_TS_KUBELET",
} as const;

export type KubernetesProgram = keyof typeof OVERRIDE_VARIABLES;

const versionFlag = (name: string, value: string) => `-X k8s.io/component-base/version.${name}=${value}`;

export function findKubernetesProgram(name: KubernetesProgram, onProgress?: (what: string) => void): Promise<string> {
  const program = {
    name,
    version: VERSION,
    module: "kubernetes",
    mainPackage: `k8s.io/kubernetes/cmd/${name}`,
    linkerFlags: [versionFlag("gitVersion", `v${VERSION}`), versionFlag("gitMajor", "1"), versionFlag("gitMinor", "34")].join(" "),
    overrideVariable: OVERRIDE_VARIABLES[name],
  };
  return findGoProgram(program, { onProgress });
}
