import type { DensityLevel } from "../layout/density.js";
import type { Ribbons } from "../layout/ribbons.js";

/** Nodes and edges of a drawing as columns; a node has the same index in all of them. */
export interface Scene {
  /** Counts the scenes: indexes of another version are not comparable. */
  readonly version: number;
  readonly length: number;
  /** Size of the whole, in pixels at 100 % zoom, as all places. */
  readonly totalWidth: number;
  readonly totalHeight: number;
  readonly x: Float64Array<ArrayBuffer>;
  readonly y: Float64Array<ArrayBuffer>;
  readonly width: Float64Array<ArrayBuffer>;
  readonly height: Float64Array<ArrayBuffer>;
  /** Number of NodeKind. */
  readonly kind: Uint8Array<ArrayBuffer>;
  /** Bits of SceneFlag. */
  readonly flags: Uint8Array<ArrayBuffer>;
  /** Index of the enclosing node that is open, −1 at the top. */
  readonly parent: Int32Array<ArrayBuffer>;
  /** Index into `texts` of the name. */
  readonly name: Int32Array<ArrayBuffer>;
  /** Number of nodes that it contains, 0 if they are not known. */
  readonly count: Int32Array<ArrayBuffer>;
  readonly texts: readonly string[];
  /** Ids in the workflow. */
  readonly specs: readonly string[];
  /** Nodes at which edges begin and end, ordered by their beginnings. */
  readonly from: Int32Array<ArrayBuffer>;
  readonly to: Int32Array<ArrayBuffer>;
  readonly ribbons: Ribbons;
  /** Nodes by cells of a grid, for those in sight. */
  readonly grid: SceneGrid;
}

/** Bits of a node's flags. */
export const SceneFlag = { open: 1, opens: 2, dynamic: 4, launches: 8, failure: 16, map: 32 } as const;

/** Cells of a scene, row by row: the nodes that touch one are `nodes[start[cell]]` and so on. */
export interface SceneGrid {
  readonly cellWidth: number;
  readonly cellHeight: number;
  readonly columns: number;
  readonly rows: number;
  readonly start: Int32Array<ArrayBuffer>;
  readonly nodes: Int32Array<ArrayBuffer>;
}

/** Columns of a scene that change while its nodes run. */
export interface SceneStates {
  readonly version: number;
  /** Number of GRAPH_STATES. */
  readonly state: Uint8Array<ArrayBuffer>;
  readonly attempts: Uint8Array<ArrayBuffer>;
  /** Milliseconds since the creation of the execution; Infinity before the start. */
  readonly started: Float64Array<ArrayBuffer>;
  readonly ended: Float64Array<ArrayBuffer>;
  /** Ids of the nodes in the execution; empty for those that have not begun. */
  readonly ids: readonly string[];
  /** States of nodes inside of closed ones; those of a node begin at `squareStart` of its index. */
  readonly squares: Uint8Array<ArrayBuffer>;
  readonly squareStart: Int32Array<ArrayBuffer>;
  readonly density: readonly DensityLevel[];
}

/** Buffers that move with the states of a scene to the page. */
export function buffersOfStates({ state, attempts, started, ended, squares, squareStart, density }: SceneStates): ArrayBuffer[] {
  const cells = density.flatMap((level) => [level.column, level.row, level.count, level.state]);
  return [state, attempts, started, ended, squares, squareStart, ...cells].map(({ buffer }) => buffer);
}
