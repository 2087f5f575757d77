import type { Manifest } from "./manifests.js";

export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

/** Fields of a container that the tests read. */
export interface Container {
  readonly name: string;
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly resources: { readonly requests?: object; readonly limits?: object };
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
}

/** Fields of a pod that the tests read. */
export interface PodManifest {
  readonly metadata: { readonly name: string; readonly namespace?: string | undefined; readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly containers: readonly Container[];
    readonly volumes?: readonly object[];
    readonly terminationGracePeriodSeconds?: number;
  };
}

interface WorkloadSpec {
  readonly template: PodManifest;
  /** Volumes that a StatefulSet creates for each of its pods. */
  readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
}

/** Kinds that create pods; all have the template at the same path. */
const WORKLOADS = new Set(["Deployment", "StatefulSet", "DaemonSet", "Job", "ReplicaSet"]);

/** Returns the pod that a workload creates, under the workload's name. */
export function podOf({ kind, metadata, spec }: Manifest): PodManifest | undefined {
  if (kind === "CronJob") throw new Error("a CronJob's template stands elsewhere");
  if (!WORKLOADS.has(kind)) return undefined;
  const { template, volumeClaimTemplates = [] } = spec as WorkloadSpec;
  const { name, namespace } = metadata;
  const claimed = volumeClaimTemplates.map((claim) => ({
    name: claim.metadata.name,
    persistentVolumeClaim: { claimName: `${claim.metadata.name}-${name}-0` },
  }));
  const podSpec = { ...template.spec, volumes: [...(template.spec.volumes ?? []), ...claimed] };
  return { apiVersion: "v1", kind: "Pod", metadata: { ...template.metadata, name, namespace }, spec: podSpec } as PodManifest;
}
