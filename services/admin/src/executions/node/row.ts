import { create, fromBinary } from "@bufbuild/protobuf";
import {
  type NodeExecution,
  type NodeExecutionClosure,
  NodeExecutionClosureSchema,
  NodeExecutionMetaDataSchema,
  NodeExecutionSchema,
} from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import { ExecutionErrorSchema, NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { NodeExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { truncateUtf8 } from "@flyte-ts/rpc";
import { nodePhaseOf } from "../model/phase-name.js";
import { setTimes } from "../store/common-columns.js";
import type { ExecutionName } from "../model/identifier.js";
import { inferredEndError } from "../model/inferred-end-error.js";
import type { NodeRow } from "../store/node/find.js";

export interface NodeOptions {
  readonly executionId: ExecutionName;
  /** Maximum length of the error message, bytes; default: unlimited. */
  readonly errorBytes?: number;
}

export function nodeExecutionOf(row: NodeRow, { executionId: { project, domain, name }, errorBytes }: NodeOptions): NodeExecution {
  return create(NodeExecutionSchema, {
    id: create(NodeExecutionIdentifierSchema, { nodeId: row.node_id, executionId: { project, domain, name } }),
    inputUri: row.input_uri,
    closure: closureOf(row, errorBytes),
    metadata: create(NodeExecutionMetaDataSchema, {
      retryGroup: row.retry_group,
      specNodeId: row.spec_node_id,
      isParentNode: row.is_parent,
      isDynamic: row.is_dynamic,
      isArray: row.is_array,
    }),
  });
}

function closureOf(row: NodeRow, errorBytes: number | undefined): NodeExecutionClosure {
  const closure = row.target === null ? create(NodeExecutionClosureSchema) : fromBinary(NodeExecutionClosureSchema, row.target);
  // A restarted engine no longer knows that the node is dynamic, and reports its terminal phase
  // like that of any task.
  if (row.is_dynamic && closure.targetMetadata.case === "taskNodeMetadata") closure.targetMetadata.value.checkpointUri = "";
  closure.phase = nodePhaseOf(row.phase);
  setTimes(closure, row);
  closure.deckUri = row.deck_uri;
  closure.dynamicJobSpecUri = row.dynamic_job_spec_uri;
  if (row.output_uri !== "") closure.outputResult = { case: "outputUri", value: row.output_uri };
  else if (row.error !== null) {
    const error = fromBinary(ExecutionErrorSchema, row.error);
    if (errorBytes !== undefined) error.message = truncateUtf8(error.message, errorBytes);
    closure.outputResult = { case: "error", value: error };
  } else if (row.settled !== null && closure.phase !== NodeExecution_Phase.SUCCEEDED) {
    closure.outputResult = { case: "error", value: inferredEndError(row.settled) };
  }
  return closure;
}
