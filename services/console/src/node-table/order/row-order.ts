import type { NodeGroup } from "./group.js";

/**
 * Rows as a page lists them: nodes and groups of nodes. Arrays have `length` values that count;
 * `entries` has the table's row of a node, or −1 − the index of a group.
 */
export class RowOrder {
  length = 0;
  readonly groups: NodeGroup[] = [];
  readonly entries: Int32Array;
  /** Level of nesting, from 0 to 255. */
  readonly depth: Uint8Array;
  /** Place among the rows of the same parent, from 1. */
  readonly position: Int32Array;
  /** Number of rows of the same parent. */
  readonly siblings: Int32Array;
  /** Place of the row that encloses a row, −1 at the top level. */
  readonly above: Int32Array;
  /** Place of each of the table's rows in the order, −1 if it is not shown. */
  readonly placeOf: Int32Array;

  /** Makes an empty order with room for `capacity` entries of a table with `rows` rows. */
  constructor(rows: number, capacity: number) {
    this.entries = new Int32Array(capacity);
    this.depth = new Uint8Array(capacity);
    this.position = new Int32Array(capacity);
    this.siblings = new Int32Array(capacity);
    this.above = new Int32Array(capacity);
    this.placeOf = new Int32Array(rows).fill(-1);
  }

  addNode(row: number, place: RowPlace): void {
    this.placeOf[row] = this.length;
    this.#add(row, place);
  }

  addGroup(group: NodeGroup, place: RowPlace): void {
    this.#add(-this.groups.push(group), place);
  }

  /** Returns the group at a place, undefined for a node. */
  groupAt(place: number): NodeGroup | undefined {
    const entry = this.entries[place] as number;
    return entry < 0 ? this.groups[-1 - entry] : undefined;
  }

  #add(entry: number, { depth, position, siblings, above }: RowPlace): void {
    this.entries[this.length] = entry;
    this.depth[this.length] = Math.min(depth, 255);
    this.position[this.length] = position;
    this.siblings[this.length] = siblings;
    this.above[this.length] = above;
    this.length++;
  }
}

/** Where a row stands in the tree. */
export interface RowPlace {
  readonly depth: number;
  /** From 1; a loop over siblings counts it up. */
  position: number;
  readonly siblings: number;
  readonly above: number;
}
