import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { isTerminalNodeEvent, isTerminalTaskEvent, isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import { NodeExecutionSchema } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import { TaskExecutionSchema } from "@flyte-ts/idl/flyteidl/admin/task_execution_pb";
import type { WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { nodePhaseOf, taskPhaseOf, workflowPhaseOf } from "../../model/phase-name.js";
import { encodeExecution } from "../../execution/row.js";
import type { ExecutionRow } from "../execution/find.js";
import { nodeExecutionOf } from "../../node/row.js";
import type { NodeRow } from "../node/find.js";
import { taskExecutionOf } from "../../attempt/row.js";
import type { TaskRow } from "../attempt/find.js";
import type { WatchedRow } from "./row.js";

/** Maximum length of a node's error message, bytes. */
const ERROR_BYTES = 2_048;

/** Field numbers of rows in WatchExecutionResponse and WatchedNode. */
const RESPONSE = { execution: 3, nodes: 4, tasks: 5 } as const;
const NODE = { node: 1, parentNodeId: 2 } as const;

export function executionRow(row: ExecutionRow & { readonly xid: bigint }): WatchedRow {
  return {
    key: { kind: "execution", id: Number(row.id) },
    writers: [Number(row.xid)],
    bytes: field(RESPONSE.execution, encodeExecution(row)),
    open: !isTerminalWorkflowEvent(workflowPhaseOf(row.phase)),
  };
}

export interface WatchedNodeRow extends NodeRow {
  id: bigint;
  parent_node_id: string | null;
  xid: bigint;
}

export function nodeRow(row: WatchedNodeRow, executionId: WorkflowExecutionIdentifier): WatchedRow {
  const node = toBinary(NodeExecutionSchema, nodeExecutionOf(row, { executionId, errorBytes: ERROR_BYTES }));
  const writer = new BinaryWriter().tag(NODE.node, WireType.LengthDelimited).bytes(node);
  if (row.parent_node_id !== null) writer.tag(NODE.parentNodeId, WireType.LengthDelimited).string(row.parent_node_id);
  return {
    key: { kind: "node", id: Number(row.id) },
    writers: [Number(row.xid)],
    bytes: field(RESPONSE.nodes, writer.finish()),
    open: !isTerminalNodeEvent(nodePhaseOf(row.phase)),
  };
}

export interface WatchedTaskRow extends TaskRow {
  xid: bigint;
}

/** An event of a task attempt, with the transaction that wrote it. */
export interface WatchedTaskEvent {
  readonly event: Uint8Array;
  readonly xid: bigint;
}

export function taskRow(row: WatchedTaskRow, executionId: WorkflowExecutionIdentifier, events: readonly WatchedTaskEvent[]): WatchedRow {
  const task = taskExecutionOf(row, { executionId, events: events.map(({ event }) => event), isParent: false });
  const { closure } = task;
  if (closure !== undefined) {
    // Omits fields that grow with the number of items and events.
    const reasons = closure.reasons.slice(-1);
    const { metadata: _, customInfo: __, ...kept } = closure;
    task.closure = { ...kept, reasons };
  }
  return {
    key: { kind: "task", id: Number(row.id) },
    writers: [...new Set([row.xid, ...events.map(({ xid }) => xid)].map(Number))],
    bytes: field(RESPONSE.tasks, toBinary(TaskExecutionSchema, create(TaskExecutionSchema, task))),
    open: !isTerminalTaskEvent(taskPhaseOf(row.phase)),
  };
}

function field(number: number, bytes: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(bytes).finish();
}
