import { arch, cpus, release, totalmem } from "node:os";
import { type JsonObject, type KubeObject, timestamp } from "../../object/model.js";
import { formatQuantity, parseQuantity } from "../../object/quantity.js";
import type { Amounts } from "../../api/pod/resources.js";

export interface Machine {
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly arch: string;
  readonly kernel: string;
}

export function thisMachine(): Machine {
  const names: Readonly<Record<string, string>> = { x64: "amd64" };
  return { cpus: cpus().length, memoryBytes: totalmem(), arch: names[arch()] ?? arch(), kernel: release() };
}

/** Maximum number of pods; more would only wait for each other. */
const MAX_PODS = "110";

/**
 * Allocatable resources. Default: four times the CPUs (at least eight) and twice the memory, since
 * requests are mostly too high and there is no other node.
 */
export function allocatableOf(machine: Machine, given: Readonly<Record<string, string | number>>): Amounts {
  const amounts: Record<string, string | number> = {
    cpu: Math.max(8, machine.cpus * 4),
    memory: `${Math.floor((machine.memoryBytes * 2) / 1024)}Ki`,
    "ephemeral-storage": "1Ti",
    pods: MAX_PODS,
    ...given,
  };
  return new Map(Object.entries(amounts).map(([name, value]) => [name, parseQuantity(value)]));
}

export interface NodeDescription {
  readonly name: string;
  readonly hostIP: string;
  readonly machine: Machine;
  readonly allocatable: Amounts;
  readonly labels: Readonly<Record<string, string>>;
  readonly now: number;
}

export function nodeLabels({
  name,
  machine,
  labels,
}: Pick<NodeDescription, "name" | "machine" | "labels">): Readonly<Record<string, string>> {
  return { "kubernetes.io/arch": machine.arch, "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", ...labels };
}

/** Builds the Node object of this machine. */
export function nodeObject(description: NodeDescription): KubeObject {
  const { name, hostIP, machine, allocatable, now } = description;
  const amounts: JsonObject = Object.fromEntries(
    [...allocatable].map(([key, value]) => [key, formatQuantity(value, key !== "cpu" && key !== "pods")]),
  );
  const time = timestamp(now);
  const condition = (type: string, status: string, reason: string, message: string): JsonObject => ({
    type,
    status,
    lastHeartbeatTime: time,
    lastTransitionTime: time,
    reason,
    message,
  });
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: nodeLabels(description), creationTimestamp: time },
    spec: {},
    status: {
      addresses: [
        { type: "InternalIP", address: hostIP },
        { type: "Hostname", address: name },
      ],
      allocatable: amounts,
      capacity: amounts,
      conditions: [
        condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        condition("Ready", "True", "KubeletReady", "pods run as local processes"),
      ],
      nodeInfo: {
        architecture: machine.arch,
        bootID: "",
        containerRuntimeVersion: "process://1",
        kernelVersion: machine.kernel,
        kubeProxyVersion: "",
        kubeletVersion: "v1.34.0-flyte-ts",
        machineID: "",
        operatingSystem: "linux",
        osImage: "local processes",
        systemUUID: "",
      },
    },
  };
}
