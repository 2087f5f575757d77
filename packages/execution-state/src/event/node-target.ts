import { create } from "@bufbuild/protobuf";
import { encodeMessage } from "@flyte-ts/proto-codec";
import {
  type NodeExecutionClosure,
  NodeExecutionClosureSchema,
  type TaskNodeMetadata,
  TaskNodeMetadataSchema,
  WorkflowNodeMetadataSchema,
} from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import type { WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { NodeTarget } from "./updates.js";

/** Target of a node that started an execution. */
export function executionTarget(executionId: WorkflowExecutionIdentifier | undefined): NodeTarget {
  const value = create(WorkflowNodeMetadataSchema, executionId ? { executionId } : {});
  return { bytes: closureOf({ case: "workflowNodeMetadata", value }), isExecution: true };
}

/**
 * Target of a node that ran a task. A cache status without a catalog key is ignored: only cached
 * nodes have a key.
 */
export function taskTarget({
  checkpointUri,
  catalogKey,
  cacheStatus,
}: Pick<TaskNodeMetadata, "checkpointUri" | "catalogKey" | "cacheStatus">): NodeTarget {
  const value = create(TaskNodeMetadataSchema, catalogKey ? { checkpointUri, catalogKey, cacheStatus } : { checkpointUri });
  return {
    bytes: closureOf({ case: "taskNodeMetadata", value }),
    isExecution: false,
    ...(catalogKey && { cacheStatus: CatalogCacheStatus[cacheStatus] ?? String(cacheStatus) }),
  };
}

function closureOf(targetMetadata: NodeExecutionClosure["targetMetadata"]): Uint8Array {
  const closure = create(NodeExecutionClosureSchema);
  closure.targetMetadata = targetMetadata;
  return encodeMessage(NodeExecutionClosureSchema, closure);
}
