import type { ExtendedResources, GPUAccelerator } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { Affinity, JsonMap, NodeSelectorRequirement, PodSpec, Toleration } from "../pod-types.js";

export interface SchedulingConfig {
  readonly schedulerName: string;
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly tolerations: readonly Toleration[];
  readonly affinity?: Affinity | undefined;
  /** Added to pods that request the resource. */
  readonly resourceTolerations: Readonly<Record<string, readonly Toleration[]>>;
  /** Resources whose nodes are tainted with the resource's name. */
  readonly tolerateResources: readonly string[];
  readonly interruptibleTolerations: readonly Toleration[];
  readonly interruptibleNodeSelector: Readonly<Record<string, string>>;
  readonly interruptibleRequirement?: NodeSelectorRequirement | undefined;
  readonly nonInterruptibleRequirement?: NodeSelectorRequirement | undefined;
  readonly podSecurityContext?: JsonMap | undefined;
  readonly dnsConfig?: JsonMap | undefined;
  readonly hostNetwork?: boolean | undefined;
  readonly gpu: GpuConfig;
}

export interface GpuConfig {
  readonly resourceName: string;
  /** Node label (and taint) that names the device. */
  readonly deviceLabel: string;
  readonly partitionSizeLabel: string;
  readonly unpartitionedRequirement?: NodeSelectorRequirement | undefined;
  readonly unpartitionedToleration?: Toleration | undefined;
}

/**
 * Adds the platform's scheduling rules. Those of the spec take precedence, except over
 * `interruptibleNodeSelector` and `hostNetwork`.
 */
export function applyScheduling(spec: PodSpec, config: SchedulingConfig, interruptible: boolean): PodSpec {
  const tolerations = [
    ...resourceTolerations(spec, config),
    ...(interruptible ? config.interruptibleTolerations : []),
    ...config.tolerations,
    ...(spec.tolerations ?? []),
  ];
  tolerations.push(
    ...resourceTaintTolerations(spec, config).filter((taint) => !tolerations.some((known) => isSameToleration(known, taint))),
  );
  const nodeSelector = { ...config.nodeSelector, ...spec.nodeSelector, ...(interruptible ? config.interruptibleNodeSelector : {}) };
  const requirement = interruptible ? config.interruptibleRequirement : config.nonInterruptibleRequirement;
  const affinity = structuredClone(spec.affinity ?? config.affinity ?? {});
  return {
    ...spec,
    restartPolicy: spec.restartPolicy || "Never",
    ...(tolerations.length > 0 ? { tolerations } : {}),
    ...(Object.keys(nodeSelector).length > 0 ? { nodeSelector } : {}),
    affinity: requirement === undefined ? affinity : withRequirements(affinity, [requirement]),
    ...optionalField("schedulerName", spec.schedulerName || config.schedulerName || undefined),
    ...optionalField("securityContext", spec.securityContext ?? config.podSecurityContext),
    ...optionalField("dnsConfig", spec.dnsConfig ?? config.dnsConfig),
    ...optionalField("hostNetwork", config.hostNetwork ?? spec.hostNetwork),
  };
}

function optionalField<K extends string, V>(key: K, value: V | undefined): { [key in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [key in K]: V });
}

function resourceTolerations({ containers }: PodSpec, { resourceTolerations: rules }: SchedulingConfig): Toleration[] {
  const names = new Set(
    containers.flatMap(({ resources }) => [...Object.keys(resources?.limits ?? {}), ...Object.keys(resources?.requests ?? {})]),
  );
  return [...names].sort().flatMap((name) => rules[name] ?? []);
}

/** Tolerates the taints that cloud providers set on nodes with special hardware. */
function resourceTaintTolerations({ containers, initContainers = [] }: PodSpec, { tolerateResources }: SchedulingConfig): Toleration[] {
  const requested = new Set([...containers, ...initContainers].flatMap(({ resources }) => Object.keys(resources?.requests ?? {})));
  return tolerateResources
    .filter((name) => requested.has(name))
    .toSorted()
    .map((key) => ({ key, operator: "Exists", effect: "NoSchedule" }));
}

function isSameToleration(a: Toleration, b: Toleration): boolean {
  return a.key === b.key && a.operator === b.operator && a.effect === b.effect && a.value === b.value;
}

/** Adds the requirements to every alternative of the node affinity. */
function withRequirements(affinity: Affinity, requirements: readonly NodeSelectorRequirement[]): Affinity {
  const terms = affinity.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const nodeSelectorTerms = (terms.length > 0 ? terms : [{}]).map((term) => ({
    ...term,
    matchExpressions: [...(term.matchExpressions ?? []), ...requirements],
  }));
  return { ...affinity, nodeAffinity: { ...affinity.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
}

/**
 * Selects nodes with the accelerator that the task or its node requests; only for pods that use
 * GPUs.
 */
export function applyAccelerator(spec: PodSpec, extended: readonly (ExtendedResources | undefined)[], config: GpuConfig): PodSpec {
  const accelerator = lastDefined(extended.map((resources) => resources?.gpuAccelerator));
  const usesGpus = spec.containers.some(({ resources }) => resources?.limits?.[config.resourceName] !== undefined);
  if (accelerator === undefined || !usesGpus) return spec;
  const requirements: NodeSelectorRequirement[] = [];
  const tolerations: Toleration[] = [...(spec.tolerations ?? [])];
  if (accelerator.device !== "") requireLabel(config.deviceLabel, accelerator.device);
  applyPartition(accelerator);
  return {
    ...spec,
    tolerations,
    affinity: requirements.length > 0 ? withRequirements(spec.affinity ?? {}, requirements) : (spec.affinity ?? {}),
  };

  function requireLabel(key: string, value: string): void {
    requirements.push({ key, operator: "In", values: [value] });
    tolerations.push({ key, value, operator: "Equal", effect: "NoSchedule" });
  }

  function applyPartition({ partitionSizeValue }: GPUAccelerator): void {
    switch (partitionSizeValue.case) {
      case "partitionSize":
        requireLabel(config.partitionSizeLabel, partitionSizeValue.value);
        break;
      case "unpartitioned":
        if (!partitionSizeValue.value) break;
        requirements.push(config.unpartitionedRequirement ?? { key: config.partitionSizeLabel, operator: "DoesNotExist" });
        if (config.unpartitionedToleration !== undefined) tolerations.push(config.unpartitionedToleration);
        break;
      case undefined:
        break;
    }
  }
}

/** Returns the last defined value. */
export function lastDefined<T>(values: readonly (T | undefined)[]): T | undefined {
  return values.findLast((value) => value !== undefined);
}
