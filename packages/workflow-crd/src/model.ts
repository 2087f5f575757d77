import type { WorkflowExecutionIdentifier, Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Binding, KeyValuePair, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { BooleanExpression } from "@flyte-ts/idl/flyteidl/core/condition_pb";
import type { SecurityContext } from "@flyte-ts/idl/flyteidl/core/security_pb";
import type { ExtendedResources, K8sPod, Resources, TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { GateNode, ArrayNode } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { VariableMap } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { Error as FlyteError } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { LoadedSlice } from "./slice/codec.js";
import type { WorkflowStatus } from "./status.js";

/**
 * A FlyteWorkflow resource, parsed: what never changes during its life. Shared by
 * every reader and therefore readonly all the way down.
 */
export interface WorkflowModel {
  /** `namespace/name`: the key in queues and messages. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly executionId: WorkflowExecutionIdentifier;
  /** Identifier of the workflow that is run, as far as the resource tells it (project, domain, name). */
  readonly workflowId: Identifier;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly root: GraphModel;
  /** Sub-workflows by the key that `workflow.subWorkflowRef` holds. */
  readonly subWorkflows: ReadonlyMap<string, GraphModel>;
  /** Task templates by the key that `task` of a node holds. */
  readonly tasks: ReadonlyMap<string, TaskTemplate>;
  readonly inputs: LiteralMap;
  readonly acceptedAt: Date | undefined;
  readonly options: ExecutionOptions;
}

/** Settings of the one execution, merged by admin before it wrote the resource. */
export interface ExecutionOptions {
  /** Task, array and launch-plan nodes in flight at once; 0 means no limit. */
  readonly maxParallelism: number;
  /** The execution's own word, which goes before the node's and the workflow's. */
  readonly interruptible: boolean | undefined;
  /** Workflow default (`node-defaults`). */
  readonly defaultInterruptible: boolean;
  readonly overwriteCache: boolean;
  readonly environment: readonly KeyValuePair[];
  readonly resources: PlatformResources;
  readonly securityContext: SecurityContext | undefined;
  readonly serviceAccountName: string;
  /** Prefix for raw outputs; empty means the platform's. */
  readonly rawOutputPrefix: string;
  readonly consoleUrl: string;
  readonly recoveryExecution: WorkflowExecutionIdentifier | undefined;
  /** Plugins that the platform's owner chose for task types, by task type. */
  readonly taskPlugins?: ReadonlyMap<string, TaskPluginOverride>;
}

export interface TaskPluginOverride {
  /** In order of preference. */
  readonly pluginIds: readonly string[];
  /** When none of them is there: use the task type's usual plugin, else fail. */
  readonly useDefaultWhenMissing: boolean;
}

/** Kubernetes quantities as text; "0" or empty means not set. */
export interface ResourceQuantities {
  readonly cpu: string;
  readonly memory: string;
  readonly ephemeralStorage: string;
  readonly storage: string;
  readonly gpu: string;
}

/** What the platform gives to containers that do not say it, and what it gives at most. */
export interface PlatformResources {
  /** Requests of who names neither request nor limit. */
  readonly defaults: ResourceQuantities;
  /** Least limits of who names none; without one its limit is what it requests, as in Flyte. */
  readonly defaultLimits?: ResourceQuantities | undefined;
  readonly limits: ResourceQuantities;
}

/** One graph of nodes: the workflow itself or a sub-workflow. */
export interface GraphModel {
  /** `project:domain:name`. */
  readonly id: string;
  readonly nodes: ReadonlyMap<string, NodeModel>;
  readonly upstream: ReadonlyMap<string, readonly string[]>;
  readonly downstream: ReadonlyMap<string, readonly string[]>;
  readonly outputs: VariableMap;
  readonly outputBindings: readonly Binding[];
  readonly onFailure: NodeModel | undefined;
  readonly onFailurePolicy: "FAIL_IMMEDIATELY" | "FAIL_AFTER_EXECUTABLE_NODES_COMPLETE";
}

export interface NodeModel {
  readonly id: string;
  /** Display name, `node_name` of events. */
  readonly name: string;
  readonly target: NodeTarget;
  readonly inputBindings: readonly Binding[];
  /** Attempts in all, first one included; undefined leaves it to the task. */
  readonly minAttempts: number | undefined;
  /** Longest time of one attempt, ms, from its start. */
  readonly executionDeadlineMs: number | undefined;
  /** Longest time of the node over all attempts, ms, from when it was queued. */
  readonly activeDeadlineMs: number | undefined;
  readonly interruptible: boolean | undefined;
  readonly outputAliases: readonly { readonly variable: string; readonly alias: string }[];
  readonly resources: Resources | undefined;
  readonly extendedResources: ExtendedResources | undefined;
  readonly containerImage: string;
  readonly podTemplate: K8sPod | undefined;
}

export type NodeTarget =
  | { readonly kind: "start" }
  | { readonly kind: "end" }
  | { readonly kind: "task"; readonly task: string }
  | { readonly kind: "branch"; readonly branch: BranchModel }
  | { readonly kind: "subWorkflow"; readonly workflow: string }
  | { readonly kind: "launchPlan"; readonly launchPlan: Identifier }
  | { readonly kind: "gate"; readonly gate: GateNode }
  | { readonly kind: "array"; readonly array: ArrayNode; readonly subNode: NodeModel };

/** Arms in the order in which they are tried; each names a node of the same graph. */
export interface BranchModel {
  readonly arms: readonly { readonly condition: BooleanExpression; readonly then: string }[];
  readonly otherwise: string | undefined;
  readonly otherwiseError: FlyteError | undefined;
}

/** A resource as read: its model and the state that it held. */
export interface ParsedWorkflow {
  readonly model: WorkflowModel;
  readonly status: WorkflowStatus;
  /** What stands in the slices that the status names; `status.nodeStatus` is put together of them. */
  readonly slices?: readonly LoadedSlice[];
  readonly resourceVersion: string;
  /** Counts the changes of all but the metadata. */
  readonly generation?: number | undefined;
  /** The API server keeps a record of who set which field, and nobody has use for it. */
  readonly fieldsTracked?: boolean | undefined;
  readonly deletionRequested: boolean;
  readonly finalizers: readonly string[];
}
