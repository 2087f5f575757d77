import type { JsonObject } from "@bufbuild/protobuf";

/** Address of FlyteWorkflow resources in the Kubernetes API. */
export const FLYTE_WORKFLOW_RESOURCE = {
  group: "flyte.lyft.com",
  version: "v1alpha1",
  plural: "flyteworkflows",
  namespaced: true,
} as const;

export const API_VERSION = "flyte.lyft.com/v1alpha1";
export const KIND = "FlyteWorkflow";

/**
 * Kind in owner references of a workflow's objects: spelled as in Go Flyte, since readers of its
 * pods compare it.
 */
export const OWNER_KIND = "flyteworkflow";

/** Keeps a deleted resource until its nodes are aborted and its end is recorded. */
export const FINALIZER = "flyte.org/finalizer";

export const EXECUTION_ID_LABEL = "execution-id";
export const PROJECT_LABEL = "project";
export const DOMAIN_LABEL = "domain";
export const WORKFLOW_NAME_LABEL = "workflow-name";
/** Partition of the execution, "0" to "31". */
export const SHARD_KEY_LABEL = "shard-key";
/** `terminated` once the workflow is done. */
export const TERMINATION_STATUS_LABEL = "termination-status";
export const TERMINATED = "terminated";
/** Hour of the end in UTC, for the garbage collector: see completedTimeLabel. */
export const COMPLETED_TIME_LABEL = "completed-time";

/** Label selector of active resources. */
export const NOT_TERMINATED_SELECTOR = `${TERMINATION_STATUS_LABEL} notin (${TERMINATED})`;

/** Labels that identify a resource; users cannot set them. */
export const SYSTEM_LABELS: readonly string[] = [
  EXECUTION_ID_LABEL,
  PROJECT_LABEL,
  DOMAIN_LABEL,
  WORKFLOW_NAME_LABEL,
  SHARD_KEY_LABEL,
  TERMINATION_STATUS_LABEL,
  COMPLETED_TIME_LABEL,
];

/** `YYYY-MM-DD.HH` in UTC. */
export function completedTimeLabel(at: Date): string {
  return `${at.toISOString().slice(0, 10)}.${at.toISOString().slice(11, 13)}`;
}

/** Labels of a finished workflow, to be merged into its own. */
export function terminatedLabels(at: Date): Readonly<Record<string, string>> {
  return { [TERMINATION_STATUS_LABEL]: TERMINATED, [COMPLETED_TIME_LABEL]: completedTimeLabel(at) };
}

/** A FlyteWorkflow as plain JSON, ready to be posted. */
export interface FlyteWorkflowResource {
  readonly apiVersion: typeof API_VERSION;
  readonly kind: typeof KIND;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers: readonly string[];
  };
  readonly spec: JsonObject | null;
  readonly workflowMeta: { readonly eventVersion: number };
  readonly inputs?: JsonObject;
  readonly executionId: JsonObject;
  readonly tasks: JsonObject | null;
  readonly subWorkflows?: JsonObject;
  readonly "node-defaults": { readonly interruptible?: true };
  /** RFC 3339, whole seconds. */
  readonly acceptedAt: string;
  readonly serviceAccountName?: string;
  readonly securityContext: JsonObject;
  readonly status: { readonly phase: number };
  readonly rawOutputDataConfig: JsonObject;
  readonly executionConfig: JsonObject;
  readonly workflowClosureReference?: string;
  readonly consoleUrl?: string;
  readonly offloadedInputs?: string;
}
