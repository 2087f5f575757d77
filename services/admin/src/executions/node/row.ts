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
import { nodePhaseOf } from "../projection/phase-name.js";
import { setTimes } from "../projection/common-columns.js";
import type { ExecutionName } from "../store/execution/state.js";
import { inferredEndError } from "../projection/inferred-end-error.js";

/** Columns from which the API's node execution is built. */
export interface NodeRow {
  node_id: string;
  retry_group: string;
  spec_node_id: string;
  is_parent: boolean;
  is_dynamic: boolean;
  is_array: boolean;
  phase: string;
  first_ns: bigint;
  started_ns: bigint | null;
  updated_ns: bigint;
  ended_ns: bigint | null;
  duration: bigint;
  input_uri: string;
  output_uri: string;
  deck_uri: string;
  dynamic_job_spec_uri: string;
  error: Uint8Array | null;
  settled: string | null;
  target: Uint8Array | null;
}

export const nodeColumns = [
  "node_id",
  "retry_group",
  "spec_node_id",
  "is_parent",
  "is_dynamic",
  "is_array",
  "phase",
  "first_ns",
  "started_ns",
  "updated_ns",
  "ended_ns",
  "duration",
  "input_uri",
  "output_uri",
  "deck_uri",
  "dynamic_job_spec_uri",
  "error",
  "settled",
  "target",
]
  .map((name) => `node_executions.${name}`)
  .join(", ");

/** Columns for the API: a node with children counts as a parent, so that clients list them (events of branches do not report it). */
export const listedNodeColumns = nodeColumns.replace(
  "node_executions.is_parent",
  `(node_executions.is_parent OR EXISTS (SELECT 1 FROM node_executions child
    WHERE child.execution_id = node_executions.execution_id AND child.parent_node_id = node_executions.node_id)) AS is_parent`,
);

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
  // A restarted engine, which no longer knows that the node is dynamic, reports its end like that of any task.
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
