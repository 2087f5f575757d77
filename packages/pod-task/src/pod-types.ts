import type { KubeObject } from "@flyte-ts/kubernetes";

/** Any JSON that is only passed on to Kubernetes. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonMap = { [key: string]: Json };

export interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: JsonMap;
}

export interface ResourceRequirements {
  requests?: Record<string, string>;
  limits?: Record<string, string>;
}

export interface VolumeMount {
  name: string;
  mountPath: string;
  readOnly?: boolean;
}

export interface Volume {
  name: string;
  secret?: { secretName: string; items?: { key: string; path: string }[]; optional?: boolean };
  emptyDir?: { medium?: string; sizeLimit?: string };
}

/** Fields of a container that are read or written here; others are passed through. */
export interface Container {
  name: string;
  image?: string;
  command?: string[];
  args?: string[];
  env?: EnvVar[];
  envFrom?: JsonMap[];
  resources?: ResourceRequirements;
  volumeMounts?: VolumeMount[];
  workingDir?: string;
  restartPolicy?: string;
  securityContext?: JsonMap;
  imagePullPolicy?: string;
  terminationMessagePolicy?: string;
}

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}

export interface NodeSelectorRequirement {
  key: string;
  operator: string;
  values?: string[];
}

export interface NodeSelectorTerm {
  matchExpressions?: NodeSelectorRequirement[];
}

export interface Affinity {
  nodeAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms: NodeSelectorTerm[] } };
}

/** Fields of a pod spec that are read or written here; others are passed through. */
export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  volumes?: Volume[];
  restartPolicy?: string;
  serviceAccountName?: string;
  schedulerName?: string;
  automountServiceAccountToken?: boolean;
  hostNetwork?: boolean;
  hostname?: string;
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  tolerations?: Toleration[];
  affinity?: Affinity;
  securityContext?: JsonMap;
  dnsConfig?: JsonMap;
  terminationGracePeriodSeconds?: number;
}

export interface ContainerState {
  waiting?: { reason?: string; message?: string };
  running?: { startedAt?: string };
  terminated?: { exitCode: number; reason?: string; message?: string; startedAt?: string; finishedAt?: string };
}

export interface ContainerStatus {
  name: string;
  ready?: boolean;
  containerID?: string;
  state?: ContainerState;
  lastState?: ContainerState;
}

export interface PodCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string | null;
}

export interface PodStatus {
  phase?: string;
  reason?: string;
  message?: string;
  startTime?: string;
  conditions?: PodCondition[];
  containerStatuses?: ContainerStatus[];
  initContainerStatuses?: ContainerStatus[];
  ephemeralContainerStatuses?: ContainerStatus[];
}

export interface Pod extends KubeObject {
  spec: PodSpec;
  status?: PodStatus;
}

export interface PodTemplate extends KubeObject {
  template: { metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> }; spec: Partial<PodSpec> };
}
