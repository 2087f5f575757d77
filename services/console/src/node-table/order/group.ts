import { NODE_STATES } from "../table/node-state.js";
import type { NodeTable } from "../table/node-table.js";

/** Children up to this number are listed one by one. */
export const MAX_UNGROUPED = 200;

/** Children of one node that are in the same state. */
export interface NodeGroup {
  /** Key of the node, 0 at the top level. */
  readonly parentKey: number;
  /** NodeState of the members. */
  readonly state: number;
  readonly members: Int32Array;
}

/** Splits the children of a node by their states, in the order of NODE_STATES. */
export function groupByState(table: NodeTable, parentKey: number, children: Int32Array): NodeGroup[] {
  const sizes = new Int32Array(NODE_STATES.length);
  for (const row of children) sizes[table.state[row] as number] = (sizes[table.state[row] as number] as number) + 1;
  const members = NODE_STATES.map((_, state) => new Int32Array(sizes[state] as number));
  const filled = new Int32Array(NODE_STATES.length);
  for (const row of children) {
    const state = table.state[row] as number;
    const at = filled[state] as number;
    (members[state] as Int32Array)[at] = row;
    filled[state] = at + 1;
  }
  return members.map((rows, state) => ({ parentKey, state, members: rows })).filter(({ members: rows }) => rows.length > 0);
}

/** Identity of a node or a group among the rows, for as long as the execution exists. */
export type RowId = `n${number}` | `g${number}:${number}`;

export function idOfNode(key: number): RowId {
  return `n${key}`;
}

export function idOfGroup({ parentKey, state }: Pick<NodeGroup, "parentKey" | "state">): RowId {
  return `g${parentKey}:${state}`;
}
