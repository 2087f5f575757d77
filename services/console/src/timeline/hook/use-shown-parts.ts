import { useEffect } from "react";
import type { NodeTableClient } from "../../node-table/node-table-client.js";
import type { PlaceRange } from "../../node-table/session/protocol.js";
import { bucketsAround } from "../axis/buckets.js";
import { levelOf, placesAround, ROW_PX, type RowViewport } from "../canvas/row-viewport.js";
import type { TimeView } from "./use-time-window.js";

/** Ranges of places begin and end at multiples of this, so that they change now and then. */
const PLACES = 16;
const NO_BUCKETS = { fromMs: 0, toMs: 0, count: 0 };

export interface PartsInSight {
  readonly client: NodeTableClient;
  readonly viewport: RowViewport;
  /** Scroll position of the tree. */
  readonly scrollPx: number;
  readonly widthPx: number;
  readonly time: TimeView;
  /** The order has groups, which show their nodes over time. */
  readonly hasGroups: boolean;
  /** Groups are in sight whose nodes go on: they are counted up to now. */
  readonly isGrowing: boolean;
}

/** Tells the worker the parts of the table that are in sight, and some around them. */
export function useShownParts({ client, viewport, scrollPx, widthPx, time, hasGroups, isGrowing }: PartsInSight): void {
  const rows = rounded(placesAround({ top: scrollPx / ROW_PX, rowPx: ROW_PX, heightPx: viewport.heightPx }), PLACES);
  const level = levelOf(viewport);
  const bars = rounded(placesAround(viewport), PLACES * 2 ** level);
  const { fromMs, toMs, count } = hasGroups ? bucketsAround(time.window, widthPx, isGrowing) : NO_BUCKETS;
  const { stretches, foldedMs } = time.folds;
  const foldKey = JSON.stringify([stretches, foldedMs]);
  const isLaidOut = viewport.heightPx > 0;
  useEffect(() => {
    if (!isLaidOut) return;
    const [folded, length] = JSON.parse(foldKey) as [typeof stretches, number];
    client.show({
      rows: { from: rows.from, to: rows.to },
      bars: { from: bars.from, to: bars.to, level },
      buckets: { fromMs, toMs, count },
      folds: { stretches: folded, foldedMs: length },
    });
  }, [client, isLaidOut, rows.from, rows.to, bars.from, bars.to, level, fromMs, toMs, count, foldKey]);
}

function rounded({ from, to }: PlaceRange, step: number): PlaceRange {
  return { from: Math.floor(from / step) * step, to: Math.ceil(to / step) * step };
}
