import type { NodeTable } from "../table/node-table.js";

/** Returns the row of the node with an id, −1 if there is none. */
export function nodeIdRow({ ids, idStart, length }: NodeTable, nodeId: string): number {
  const wanted = new TextEncoder().encode(nodeId);
  for (let row = 0; row < length; row++) {
    const start = idStart[row] as number;
    if ((idStart[row + 1] as number) - start === wanted.length && wanted.every((byte, at) => ids[start + at] === byte)) return row;
  }
  return -1;
}
