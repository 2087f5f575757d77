import type { ContainerState, Pod } from "@flyte-ts/pod-task";

/** The status that a kubelet or a scheduler writes for a pod. */
export interface PodStatus {
  readonly phase: string;
  readonly conditions: readonly object[];
  readonly containerStatuses?: readonly object[];
}

const timestamp = () => new Date().toISOString();

export function running(pod: Pod): PodStatus {
  return { phase: "Running", conditions: [ready("True")], ...containers(pod, { running: { startedAt: timestamp() } }, true) };
}

export function succeeded(pod: Pod): PodStatus {
  const terminated = { exitCode: 0, reason: "Completed", finishedAt: timestamp() };
  return { phase: "Succeeded", conditions: [ready("False")], ...containers(pod, { terminated }) };
}

/** The program of the pod ended with this status. */
export function failed(pod: Pod, exitCode: number, reason = "Error"): PodStatus {
  const terminated = { exitCode, reason, finishedAt: timestamp() };
  return { phase: "Failed", conditions: [ready("False")], ...containers(pod, { terminated }) };
}

export function imageMissing(pod: Pod): PodStatus {
  const waiting = { reason: "ImagePullBackOff", message: "no such image" };
  return { phase: "Pending", conditions: [ready("False", "ContainersNotReady")], ...containers(pod, { waiting }) };
}

export const UNSCHEDULABLE = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.";

export function unschedulable(): PodStatus {
  const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message: UNSCHEDULABLE };
  return { phase: "Pending", conditions: [{ ...condition, lastTransitionTime: timestamp() }] };
}

function ready(status: "True" | "False", reason = "") {
  return { type: "Ready", status, reason, message: "", lastTransitionTime: timestamp() };
}

function containers({ spec }: Pod, state: ContainerState, isReady = false) {
  const of = ({ name, image = "" }: { readonly name: string; readonly image?: string }) => ({
    name,
    image,
    imageID: "",
    restartCount: 0,
    ready: isReady,
    state,
  });
  return { containerStatuses: spec.containers.map(of) };
}
