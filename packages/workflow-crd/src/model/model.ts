import type { WorkflowExecutionIdentifier, Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Binding, KeyValuePair, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { BooleanExpression } from "@flyte-ts/idl/flyteidl/core/condition_pb";
import type { SecurityContext } from "@flyte-ts/idl/flyteidl/core/security_pb";
import type { ExtendedResources, K8sPod, Resources, TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { GateNode, ArrayNode } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { VariableMap } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { Error as FlyteError } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { LoadedSlice } from "../slice/codec.js";
import type { WorkflowStatus } from "./status.js";

/**
 * The immutable part of a parsed FlyteWorkflow resource. Shared by all readers and therefore deeply
 * readonly.
 */
export interface WorkflowModel {
  /** `namespace/name`, the key in queues and messages. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly executionId: WorkflowExecutionIdentifier;
  /** Identifier of the workflow, as far as the resource has it (project, domain, name). */
  readonly workflowId: Identifier;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly root: GraphModel;
  /** Sub-workflows by the key in `workflow.subWorkflowRef`. */
  readonly subWorkflows: ReadonlyMap<string, GraphModel>;
  /** Task templates by the key in `task` of a node. */
  readonly tasks: ReadonlyMap<string, TaskTemplate>;
  readonly inputs: LiteralMap;
  readonly acceptedAt: Date | undefined;
  readonly options: ExecutionOptions;
}

/** Settings of one execution, merged by admin before it wrote the resource. */
export interface ExecutionOptions {
  /** Maximum of concurrent task, array and launch-plan nodes; 0 means no limit. */
  readonly maxParallelism: number;
  /** The execution's own setting, which overrides the node's and the workflow's. */
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
  /** Plugins that the platform's operator chose for task types, by task type. */
  readonly taskPlugins?: ReadonlyMap<string, TaskPluginOverride>;
}

export interface TaskPluginOverride {
  /** In order of preference. */
  readonly pluginIds: readonly string[];
  /** When none of them exists: use the task type's usual plugin, else fail. */
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

/** Resource defaults of the platform for containers that set none, and its limits. */
export interface PlatformResources {
  /** Requests of containers that set neither request nor limit. */
  readonly defaults: ResourceQuantities;
  /**
   * Minimum limits of containers that set none; without them the limit is the request, as in Flyte.
   */
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
  /** Total attempts, including the first; undefined leaves it to the task. */
  readonly maxAttempts: number | undefined;
  /** Timeout of one attempt, ms, from its start. */
  readonly executionDeadlineMs: number | undefined;
  /** Timeout of the node over all attempts, ms, from when it was queued. */
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

/** Arms in order of evaluation; each names a node of the same graph. */
export interface BranchModel {
  readonly arms: readonly { readonly condition: BooleanExpression; readonly then: string }[];
  readonly otherwise: string | undefined;
  readonly otherwiseError: FlyteError | undefined;
}

/** A parsed resource: its model and its stored state. */
export interface ParsedWorkflow {
  readonly model: WorkflowModel;
  readonly status: WorkflowStatus;
  /** Slices that the status references; `status.nodeStatus` is assembled from them. */
  readonly slices?: readonly LoadedSlice[];
  readonly resourceVersion: string;
  /** Counts changes of all fields except the metadata. */
  readonly generation?: number | undefined;
  /**
   * True when the API server's record of field ownership holds plain updates only: the record then
   * has no use and may be cleared.
   */
  readonly hasManagedFields?: boolean | undefined;
  readonly deletionRequested: boolean;
  readonly finalizers: readonly string[];
}
