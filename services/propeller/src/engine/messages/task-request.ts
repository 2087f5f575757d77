import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type AttemptName, rawOutputShard, sanitizeLabelValue, shardOf, taskGeneratedName, taskUniqueId } from "@flyte-ts/domain/name";
import { taskEventPhase } from "@flyte-ts/domain/phase";
import type { TaskExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import {
  DesiredState,
  type NodeOverrides,
  type Owner,
  type ResourceSet,
  type TaskRequest,
} from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { API_VERSION, OWNER_KIND, type NodeModel, type ResourceQuantities, type WorkflowModel } from "@flyte-ts/workflow-crd";
import type { EngineConfig } from "../config.js";
import { arrayItem, itemEnvironment } from "./array-item.js";
import { attemptDir, checkpointUri } from "../graph/paths.js";
import type { RuntimeNode } from "../graph/runtime.js";
import { decideInterruptible } from "../policy/interruptible.js";

export interface TaskRequestContext {
  readonly workflow: WorkflowModel;
  readonly config: EngineConfig;
  readonly template: TaskTemplate;
  /** ms. */
  readonly now: number;
}

export interface RequestOptions {
  readonly desired: DesiredState;
  /** From 0; usually the node's current one. */
  readonly attempt: number;
  readonly abortReason?: string;
  readonly deleteResources?: boolean;
}

/** Prefix of an attempt's raw outputs. */
export function rawOutputPrefixOf(facts: Pick<TaskRequestContext, "workflow" | "config">, node: RuntimeNode, attempt: number): string {
  const uniqueId = taskUniqueId(attemptName(facts.workflow, node, attempt));
  const prefix = facts.workflow.options.rawOutputPrefix || facts.config.rawOutputPrefix;
  return `${prefix}/${rawOutputShard(uniqueId)}/${uniqueId}`;
}

/** Name of the objects that an attempt creates. */
export function generatedNameOf(workflow: WorkflowModel, node: RuntimeNode, attempt: number): string {
  return taskGeneratedName(attemptName(workflow, node, attempt));
}

function attemptName(workflow: WorkflowModel, node: RuntimeNode, attempt: number): AttemptName {
  return { execution: workflow.name, nodeUniqueId: node.uniqueId, attempt };
}

/**
 * Complete request for a plugin service to bring one attempt to the desired state. Built field by
 * field, as there are very many: a message built by `create` takes four times the memory.
 */
export function taskRequest(node: RuntimeNode, facts: TaskRequestContext, aim: RequestOptions): TaskRequest {
  const { workflow, config, template, now } = facts;
  const { options } = workflow;
  const { attempt } = aim;
  // The stored plugin state belongs to the node's current attempt.
  const task = attempt === node.attempt ? node.status.TaskNodeStatus : undefined;
  const interruptible = decideInterruptible(node.model, options, { systemFailures: node.status.systemFailures ?? 0, config });
  const runs = aim.desired === DesiredState.RUN;
  return {
    $typeName: "flytets.plugin.v1.TaskRequest",
    id: attemptId(node, facts, attempt),
    desired: aim.desired,
    generatedName: generatedNameOf(workflow, node, attempt),
    workflowKey: workflow.key,
    nodePath: node.path,
    namespace: workflow.namespace,
    owner: ownerOf(workflow),
    template,
    overrides: overridesOf(node.model),
    workflowId: workflow.workflowId,
    inputs: runs && !node.data.inputsInBlobStore ? node.data.inputs : undefined,
    inputsWritten: node.data.inputsInBlobStore,
    inputUri: node.inputsUri,
    outputPrefix: attemptDir(node.dataDir, attempt),
    rawOutputPrefix: rawOutputPrefixOf(facts, node, attempt),
    previousCheckpointUri: attempt > 0 ? checkpointUri(rawOutputPrefixOf(facts, node, attempt - 1)) : (task?.checkpointPath ?? ""),
    labels: {
      ...workflow.labels,
      "node-id": sanitizeLabelValue(node.id),
      "task-name": sanitizeLabelValue(template.id?.name ?? ""),
      interruptible: String(interruptible),
    },
    annotations: { ...workflow.annotations },
    environment: [...options.environment, ...itemEnvironment(node)],
    securityContext: options.securityContext,
    resourceDefaults: resourceSet(options.resources.defaults),
    resourceDefaultLimits: options.resources.defaultLimits && resourceSet(options.resources.defaultLimits),
    resourceLimits: resourceSet(options.resources.limits),
    interruptible,
    consoleUrl: options.consoleUrl,
    deleteResources: aim.deleteResources ?? false,
    pluginState: task?.pState === undefined ? new Uint8Array() : Buffer.from(task.pState, "base64"),
    knownPhase: taskEventPhase(task?.phase ?? 0),
    knownPhaseVersion: task?.phaseVersion ?? 0,
    shard: shardOf(workflow.name),
    requestedAt: timestampFromMs(now),
    abortReason: aim.abortReason ?? "",
    partOfArray: node.scope.array?.reportsItemsAs === "items",
    arrayItem: arrayItem(node),
  };
}

function attemptId(node: RuntimeNode, { workflow, template }: TaskRequestContext, retryAttempt: number): TaskExecutionIdentifier {
  const { executionId } = workflow;
  return {
    $typeName: "flyteidl.core.TaskExecutionIdentifier",
    taskId: template.id,
    nodeExecutionId: { $typeName: "flyteidl.core.NodeExecutionIdentifier", nodeId: node.uniqueId, executionId },
    retryAttempt,
  };
}

function ownerOf({ name, uid }: WorkflowModel): Owner {
  return { $typeName: "flytets.plugin.v1.Owner", apiVersion: API_VERSION, kind: OWNER_KIND, name, uid };
}

function overridesOf({ resources, extendedResources, containerImage, podTemplate }: NodeModel): NodeOverrides {
  return { $typeName: "flytets.plugin.v1.NodeOverrides", resources, extendedResources, containerImage, podTemplate };
}

function resourceSet(quantities: ResourceQuantities): ResourceSet {
  return { $typeName: "flytets.plugin.v1.ResourceSet", ...quantities };
}
