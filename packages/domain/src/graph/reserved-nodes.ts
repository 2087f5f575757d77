/** Id of the node that represents a workflow's inputs; all nodes run after it. */
export const START_NODE = "start-node";
/** Id of the node that represents a workflow's outputs; it runs after all nodes. */
export const END_NODE = "end-node";

/** Tells the nodes that the compiler adds to each workflow; they run nothing. */
export function isReservedNode(id: string): boolean {
  return id === START_NODE || id === END_NODE;
}
