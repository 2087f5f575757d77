import { NODE_STATES, NodeState, type NodeStateName } from "../../node-table/table/node-state.js";

/** State of a node that the execution has not begun, and of all nodes without an execution. */
export const NOT_BEGUN = NODE_STATES.length;

export type GraphStateName = NodeStateName | "notBegun";

/** Names of the states by number. */
export const GRAPH_STATES: readonly GraphStateName[] = [...NODE_STATES, "notBegun"];

/** States of which one node is enough to colour a cell of many. */
export const STANDING_OUT: readonly number[] = [NodeState.failed, NodeState.waiting, NodeState.running, NodeState.aborted];
