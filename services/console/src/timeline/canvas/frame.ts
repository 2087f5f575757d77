import type { TimeFolds } from "../../node-table/measure/time-folds.js";
import type { BarSlice, GroupActivity, ShownParts } from "../../node-table/session/protocol.js";
import type { Tick } from "../axis/ticks.js";
import type { TimeWindow } from "../axis/time-window.js";
import type { CanvasSize, TimelineColours } from "./draw-context.js";
import type { RowViewport } from "./row-viewport.js";

/** All that a drawing of the timeline shows. */
export interface Frame extends CanvasSize {
  readonly bars: BarSlice;
  readonly groups: readonly GroupActivity[];
  /** Time intervals for which `groups` has its activity. */
  readonly buckets: ShownParts["buckets"];
  /** Places that show activity instead of a bar. */
  readonly activePlaces: ReadonlySet<number>;
  readonly viewport: RowViewport;
  readonly window: TimeWindow;
  readonly folds: TimeFolds;
  /** Empty texts are not written. */
  readonly ticks: readonly (Tick & { readonly text: string })[];
  /** End of what has not ended, milliseconds since the creation of the execution. */
  readonly nowMs: number;
  readonly isLive: boolean;
  readonly colours: TimelineColours;
  /** Texts beside bars, by place; only for rows of the tree's height. */
  readonly labels: ReadonlyMap<number, string>;
  /** Places on the critical path. */
  readonly criticalPlaces: ReadonlySet<number>;
  /** Place of the selected node, −1 for none. */
  readonly selectedPlace: number;
}
