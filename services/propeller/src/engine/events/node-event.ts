import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier, WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import {
  type DynamicWorkflowNodeMetadataSchema,
  type NodeExecutionEvent,
  TaskNodeMetadataSchema,
  WorkflowNodeMetadataSchema,
} from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { NodeTarget } from "@flyte-ts/workflow-crd";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";
import { itemReportingOf } from "../array/array-state.js";
import type { NodeCache } from "../graph/node-cache.js";
import { dynamicDepthOf, type RuntimeNode } from "../graph/runtime.js";
import { outputResult } from "./output-result.js";

/** Version of node events with `is_parent` and `is_dynamic`. */
const NODE_EVENT_VERSION = 1;

export interface NodeEventFacts {
  readonly node: RuntimeNode;
  readonly executionId: WorkflowExecutionIdentifier;
  readonly producerId: string;
  readonly phase: NodeExecution_Phase;
  /** ms. */
  readonly now: number;
  readonly sequence: bigint;
  /** Identifier of the task that the node runs. */
  readonly targetEntity?: Identifier | undefined;
  readonly details: NodeEventDetails;
}

/** Fields of some events of a node. */
export interface NodeEventDetails {
  /** Time of the change, ms; default now. */
  readonly occurredAt?: number | undefined;
  readonly error?: ExecutionErrorJson | undefined;
  readonly outputUri?: string | undefined;
  readonly deckUri?: string | undefined;
  /** Set on a task node's end: location of the attempt's checkpoints. */
  readonly checkpointUri?: string | undefined;
  /** Execution that a launch plan node started. */
  readonly childExecution?: WorkflowExecutionIdentifier | undefined;
  /** The graph that a dynamic node runs. */
  readonly dynamic?: MessageInitShape<typeof DynamicWorkflowNodeMetadataSchema> | undefined;
  /** Location of the graph's compiled form, when the event does not include it. */
  readonly dynamicUri?: string | undefined;
  /** Outcome of cache lookup, reservation and storage. */
  readonly cache?: Pick<NodeCache, "status" | "key" | "reservation"> | undefined;
  /** Inputs by value; absent when a file in the blob store holds them. */
  readonly inputs?: LiteralMap | undefined;
  readonly outputs?: LiteralMap | undefined;
}

/**
 * Event of a node's phase change, for admin (fields as recorded from Go Flyte 1.16). Built field by
 * field for speed, as there are very many.
 */
export function nodeEvent(facts: NodeEventFacts): ExecutionEvent {
  const { node, phase, now, details } = facts;
  const parent = node.parentRef;
  const { kind } = node.model.target;
  const at = timestampFromMs(now);
  const occurredAt = details.occurredAt === undefined ? at : timestampFromMs(details.occurredAt);
  return {
    $typeName: "flytets.event.v1.ExecutionEvent",
    event: {
      case: "node",
      value: {
        $typeName: "flyteidl.event.NodeExecutionEvent",
        id: { $typeName: "flyteidl.core.NodeExecutionIdentifier", nodeId: node.uniqueId, executionId: facts.executionId },
        producerId: facts.producerId,
        phase,
        occurredAt,
        reportedAt: at,
        // The start node has no inputs of its own.
        inputValue: kind === "start" ? { case: undefined } : { case: "inputUri", value: node.inputsUri },
        outputResult: outputResult(details),
        targetMetadata: targetMetadata(details),
        parentNodeMetadata: parent && { $typeName: "flyteidl.event.ParentNodeExecutionMetadata", nodeId: parent.uniqueId },
        retryGroup: parent === undefined ? "" : String(parent.attempt),
        specNodeId: node.id,
        nodeName: node.model.name,
        eventVersion: NODE_EVENT_VERSION,
        isParent: isParent(node.model.target) || node.graph.isDynamic,
        isDynamic: node.graph.isDynamic,
        isInDynamicChain: dynamicDepthOf(node.scope) > 0,
        isArray: kind === "array",
        deckUri: details.deckUri ?? "",
        isEager: false,
        targetEntity: facts.targetEntity,
      },
    },
    inputs: details.inputs,
    outputs: details.outputs,
    sequence: facts.sequence,
    dynamicWorkflowUri: details.dynamicUri ?? "",
    // The sink adds the `namespace/name` key of the resource.
    workflowKey: "",
    endedNodes: 0,
  };
}

/** True when nodes below such a node publish events. */
function isParent(target: NodeTarget): boolean {
  return target.kind === "subWorkflow" || (target.kind === "array" && itemReportingOf(target.subNode) === "nodes");
}

function targetMetadata({ childExecution, checkpointUri, cache, dynamic }: NodeEventDetails): NodeExecutionEvent["targetMetadata"] {
  if (childExecution !== undefined)
    return { case: "workflowNodeMetadata", value: create(WorkflowNodeMetadataSchema, { executionId: childExecution }) };
  if (checkpointUri === undefined && cache === undefined && dynamic === undefined) return { case: undefined };
  const value = create(TaskNodeMetadataSchema, {
    ...(checkpointUri === undefined ? {} : { checkpointUri }),
    ...(dynamic === undefined ? {} : { dynamicWorkflow: dynamic }),
    ...(cache?.status === undefined ? {} : { cacheStatus: cache.status }),
    ...(cache?.key === undefined ? {} : { catalogKey: cache.key }),
    ...(cache === undefined ? {} : { reservationStatus: cache.reservation }),
  });
  return { case: "taskNodeMetadata", value };
}
