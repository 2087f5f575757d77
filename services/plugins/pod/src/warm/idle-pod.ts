import type { Pod } from "@flyte-ts/pod-task";
import { WARM_KEY_LABEL, WARM_POOL_ANNOTATION, WARM_PRELOAD_ANNOTATION, WARM_STATE_LABEL, type WarmStart } from "@flyte-ts/pod-task/warm";

/** Pods that no attempt has taken. */
export const IDLE_SELECTOR = `${WARM_STATE_LABEL}=idle`;

/** The part of an idle pod that the pool keeps: all but the spec, which the key stands for. */
export function trimIdlePod({ metadata, status }: Pod): Pod {
  const { name, namespace = "", uid = "", resourceVersion = "", creationTimestamp = "", deletionTimestamp, labels, annotations } = metadata;
  return {
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      creationTimestamp,
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      labels: { [WARM_KEY_LABEL]: labels?.[WARM_KEY_LABEL] ?? "" },
      annotations: {
        [WARM_POOL_ANNOTATION]: annotations?.[WARM_POOL_ANNOTATION] ?? "",
        ...preloadOf(annotations?.[WARM_PRELOAD_ANNOTATION]),
      },
    },
    spec: { containers: [] },
    ...(status === undefined ? {} : { status }),
  };
}

/** A pod that an attempt can take. */
export interface Candidate {
  readonly pod: Pod;
  /** Time from which its kubelet shows an assignment at once, ms; 0 if it has passed. */
  readonly settledAt: number;
}

export function kindOf({ metadata }: Pod): string {
  return metadata.labels?.[WARM_KEY_LABEL] ?? "";
}

/** The process whose pool the pod belongs to. */
export function poolOf({ metadata }: Pod): string {
  return metadata.annotations?.[WARM_POOL_ANNOTATION] ?? "";
}

/** True when an attempt can start in the pod: its supervisor runs, and its node is reachable. */
export function isReady({ metadata, status }: Pod): boolean {
  const ready = status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") === true;
  return metadata.deletionTimestamp === undefined && status?.phase === "Running" && ready;
}

/** True when the pod will serve no attempt: its supervisor has ended. */
export function isSpent({ status }: Pod): boolean {
  const ended = status?.containerStatuses?.some(({ state }) => state?.terminated !== undefined) === true;
  return status?.phase === "Succeeded" || status?.phase === "Failed" || ended;
}

/** True when no node has room for the pod. */
export function isUnschedulable({ status }: Pod): boolean {
  return (
    status?.conditions?.some(
      ({ type, status: value, reason }) => type === "PodScheduled" && value === "False" && reason === "Unschedulable",
    ) === true
  );
}

export function ageMs({ metadata }: Pod, now: number): number {
  const created = Date.parse(metadata.creationTimestamp ?? "");
  return Number.isNaN(created) ? 0 : now - created;
}

/** Fields that differ between the idle pods of a kind. */
export interface IdlePod {
  readonly name: string;
  readonly pool: string;
  /** Modules to load ahead. */
  readonly preload?: string | undefined;
}

/** Builds an idle pod of a kind. */
export function idlePod({ metadata, spec }: WarmStart, { name, pool, preload }: IdlePod): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: metadata.namespace,
      labels: { ...metadata.labels, [WARM_STATE_LABEL]: "idle" },
      annotations: { ...metadata.annotations, [WARM_POOL_ANNOTATION]: pool, ...preloadOf(preload) },
    },
    spec,
  };
}

function preloadOf(preload: string | undefined): Record<string, string> {
  return preload === undefined ? {} : { [WARM_PRELOAD_ANNOTATION]: preload };
}
