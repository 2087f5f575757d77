import type { LiveState } from "@flyte-ts/client/browser";
import type { Activity } from "../measure/activity.js";
import type { Stretch } from "../measure/time-folds.js";
import type { NodeFilter } from "../order/filter.js";
import type { RowId } from "../order/group.js";
import type { OrderKind } from "../order/list-rows.js";
import type { NodeStateName } from "../table/node-state.js";
import type { NodeCounts } from "../wire/read-chunk.js";
import type { ExecutionState } from "../wire/read-execution.js";
import type { NodeRows } from "./node-rows.js";

/** Places of an order, from `from` on and before `to`. */
export interface PlaceRange {
  readonly from: number;
  readonly to: number;
}

/** Parts of the table that a page shows; the worker sends them now and on change. */
export interface ShownParts {
  /** Rows of the tree. */
  readonly rows: PlaceRange;
  /** Rows of the canvas, and the level of the pyramid at which it draws them. */
  readonly bars: PlaceRange & { readonly level: number };
  /** Parts of folded time in which groups show their nodes. */
  readonly buckets: { readonly fromMs: number; readonly toMs: number; readonly count: number };
  readonly folds: { readonly stretches: readonly Stretch[]; readonly foldedMs: number };
}

/** Messages of a page to the worker. */
export type PageMessage =
  /** Reads a table from a path of admin's REST interface; resumes if it is the path read before. */
  | {
      readonly kind: "open";
      readonly path: string;
      /** Default: the origin of the page. */
      readonly origin?: string;
      /** Time of the server less that of the browser. */
      readonly clockSkewMs: number;
      /** Default true; otherwise the stream ends once the table is complete. */
      readonly isFollowed?: boolean;
      /** Default false; otherwise further rows are read after `drawn`, or some time. */
      readonly awaitsDraw?: boolean;
    }
  /** The first rows are drawn. */
  | { readonly kind: "drawn" }
  /** Ends the stream; the table stays, and `open` continues it. */
  | { readonly kind: "pause" }
  | { readonly kind: "show"; readonly parts: ShownParts }
  | { readonly kind: "order"; readonly order: OrderKind }
  | { readonly kind: "filter"; readonly filter: NodeFilter }
  | { readonly kind: "expand"; readonly id: RowId; readonly isExpanded: boolean }
  /** Opens the nodes around a node; answered by `revealed`. */
  | { readonly kind: "reveal"; readonly nodeId: string }
  /** Sends the rows of all nodes from now on, for another worker. */
  | { readonly kind: "follow" }
  /** Marks the rows of the critical path, or ends that. */
  | { readonly kind: "trace"; readonly isTraced: boolean };

/** A row of the tree. Times are milliseconds since the creation of the execution. */
export interface RowView {
  readonly id: RowId;
  /** A group has no node of its own. */
  readonly isGroup: boolean;
  readonly place: number;
  /** Level of nesting, from 0. */
  readonly depth: number;
  /** Place among the rows of the same parent, from 1. */
  readonly position: number;
  readonly siblings: number;
  /** Place of the row that encloses it, −1 at the top level. */
  readonly above: number;
  /** Undefined for a row that has nothing to open. */
  readonly isExpanded: boolean | undefined;
  /** Id of the node; empty for a group. */
  readonly nodeId: string;
  /** Id in the workflow; empty if it is the node's id. */
  readonly specId: string;
  /** Name of the task; empty for none. */
  readonly task: string;
  readonly state: NodeStateName;
  /** Number of flyteidl.core.NodeExecution.Phase; 0 for a group. */
  readonly phase: number;
  /** Bits of NodeFlag. */
  readonly flags: number;
  readonly attempts: number;
  readonly errorCode: string;
  readonly queuedMs: number;
  readonly startedMs: number | undefined;
  readonly endedMs: number | undefined;
  /** Number of the group's members or of the node's children. */
  readonly count: number;
  readonly isCritical: boolean;
}

/** Bars of a canvas: cells of 2^level rows each, from place `from` on. Times as in NodeTable. */
export interface BarSlice {
  readonly level: number;
  readonly from: number;
  readonly queued: Float64Array<ArrayBuffer>;
  /** Infinity before the start. */
  readonly started: Float64Array<ArrayBuffer>;
  /** Infinity before the end. */
  readonly ended: Float64Array<ArrayBuffer>;
  /** NodeState; for several rows the one that matters most: failed, running, succeeded. */
  readonly state: Uint8Array<ArrayBuffer>;
  /** Number of attempts of a single row, 0 for several. */
  readonly attempts: Uint8Array<ArrayBuffer>;
}

/** Nodes of a group, or children of a node that are grouped, over time. */
export interface GroupActivity {
  readonly place: number;
  readonly activity: Activity;
}

/** Parts of the table as of an order. */
export interface ShownTable {
  /** Counts the orders; places of another version are not comparable. */
  readonly version: number;
  readonly rows: readonly RowView[];
  readonly bars: BarSlice;
  readonly groups: readonly GroupActivity[];
  /** Parts that the activity of the groups is by. */
  readonly buckets: ShownParts["buckets"];
}

export interface TableSummary {
  readonly version: number;
  /** Number of rows of the order. */
  readonly rows: number;
  readonly nodes: number;
  /** Number of nodes that the filter lets through. */
  readonly matches: number;
  /** As of the last message that completed the table. */
  readonly counts: NodeCounts | undefined;
  /** Number of gates that wait, which the counts have among the running nodes. */
  readonly waiting: number;
  readonly isComplete: boolean;
  readonly hasEnded: boolean;
  /** Time of the last event that is known, milliseconds since the creation. */
  readonly lastMs: number;
}

/** Numbers of nodes at once over the whole execution. */
export interface OverviewCounts {
  readonly fromMs: number;
  readonly toMs: number;
  readonly activity: Activity;
}

/** Messages of the worker to its page. */
export type WorkerMessage =
  | { readonly kind: "live"; readonly state: LiveState }
  | { readonly kind: "execution"; readonly execution: ExecutionState }
  | { readonly kind: "summary"; readonly summary: TableSummary }
  | { readonly kind: "shown"; readonly shown: ShownTable }
  | { readonly kind: "overview"; readonly overview: OverviewCounts }
  /** Rows that are new or have changed, to a page that follows them. */
  | { readonly kind: "nodes"; readonly nodes: NodeRows }
  /** Place −1: the execution has no such node yet, or the filter hides it. */
  | { readonly kind: "revealed"; readonly nodeId: string; readonly place: number }
  /** The stream has failed for good; `code` is a code of gRPC. */
  | { readonly kind: "failed"; readonly code: number; readonly message: string };
