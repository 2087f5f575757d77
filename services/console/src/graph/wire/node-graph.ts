/** Numbers of flytets.admin.v1.NodeKind. */
export const NodeKind = {
  unspecified: 0,
  task: 1,
  workflow: 2,
  launchPlan: 3,
  branch: 4,
  approval: 5,
  signal: 6,
  sleep: 7,
  array: 8,
} as const;

/** Nodes and edges of a workflow, of what a dynamic node made, or of a branch. */
export interface NodeGraph {
  /** Number of nodes. */
  readonly length: number;
  readonly ids: readonly string[];
  /** Numbers of NodeKind. */
  readonly kind: Uint8Array;
  /** Index plus 1 into the texts of the name in the node's metadata; 0 for none. */
  readonly name: Float64Array;
  /** Index plus 1 into the texts of the task, workflow or launch plan; 0 for none. */
  readonly entity: Float64Array;
  /** Index of the graph that the node contains; 0 for none. */
  readonly subGraph: Float64Array;
  /** Rows at which edges begin and end. */
  readonly from: Float64Array;
  readonly to: Float64Array;
  /** Row of the node that runs after a failure; −1 for none. */
  readonly failureNode: number;
}

/** A flytets.admin.v1.Graph message; see idl/flytets/admin/v1/graph.proto. */
export interface GraphMessage {
  readonly texts: readonly string[];
  /** The first is that of the workflow. */
  readonly graphs: readonly NodeGraph[];
}
