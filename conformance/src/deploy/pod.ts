import type { Manifest } from "./manifests.js";

export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

/** A container, as far as tests look at it. */
export interface Container {
  readonly name: string;
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly resources: { readonly requests?: object; readonly limits?: object };
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
}

/** A pod, as far as tests look at it. */
export interface PodManifest {
  readonly metadata: { readonly name: string; readonly namespace?: string | undefined; readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly containers: readonly Container[]; readonly terminationGracePeriodSeconds?: number };
}

/** Kinds that make pods, each with its template at the same place. */
const WORKLOADS = new Set(["Deployment", "StatefulSet", "DaemonSet", "Job", "ReplicaSet"]);

/** The pod that a workload would make, under its name. */
export function podOf({ kind, metadata, spec }: Manifest): PodManifest | undefined {
  if (kind === "CronJob") throw new Error("a CronJob's template stands elsewhere");
  if (!WORKLOADS.has(kind)) return undefined;
  const { template } = spec as { readonly template: PodManifest };
  const { name, namespace } = metadata;
  return { apiVersion: "v1", kind: "Pod", metadata: { ...template.metadata, name, namespace }, spec: template.spec } as PodManifest;
}
