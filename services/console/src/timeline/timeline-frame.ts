import type { ShownTable } from "../node-table/session/protocol.js";
import { ticksOf, tickStepMs } from "./axis/ticks.js";
import type { CanvasSize, TimelineColours } from "./canvas/draw-context.js";
import type { Frame } from "./canvas/frame.js";
import { ROW_PX, type RowViewport } from "./canvas/row-viewport.js";
import { runMs } from "./tree/row-text.js";
import type { TimeView } from "./hook/use-time-window.js";

/** State of a timeline that its drawing depends on. */
export interface FrameState {
  readonly shown: ShownTable;
  readonly size: CanvasSize;
  readonly viewport: RowViewport;
  readonly time: Pick<TimeView, "window" | "folds" | "mode">;
  readonly nowMs: number;
  readonly isLive: boolean;
  readonly alignMs: number;
  readonly colours: TimelineColours;
  /** Id of the selected node; undefined for none. */
  readonly selected: string | undefined;
  readonly durationText: (durationMs: number) => string;
  /** Formats a time since the creation of the execution; `stepMs`: distance of the ticks. */
  readonly timeText: (timeMs: number, stepMs: number) => string;
}

/** Computes all that the canvas draws of a timeline at one moment. */
export function timelineFrame({
  shown,
  size,
  viewport,
  time,
  nowMs,
  isLive,
  alignMs,
  colours,
  selected,
  durationText,
  timeText,
}: FrameState): Frame {
  const { window, folds } = time;
  const hasLabels = viewport.rowPx === ROW_PX;
  return {
    ...size,
    viewport,
    window,
    folds,
    nowMs,
    isLive,
    colours,
    bars: shown.bars,
    groups: shown.groups,
    buckets: shown.buckets,
    activePlaces: new Set(shown.groups.map(({ place }) => place)),
    ticks: ticksOf({ window, widthPx: size.widthPx, folds, alignMs }).map((tick) => ({
      ...tick,
      text: time.mode === "fit" ? "" : timeText(tick.timeMs, tickStepMs(window, size.widthPx)),
    })),
    labels: new Map(hasLabels ? shown.rows.map((row) => [row.place, durationText(runMs(row, nowMs))]) : []),
    criticalPlaces: new Set(shown.rows.filter(({ isCritical }) => isCritical).map(({ place }) => place)),
    selectedPlace: shown.rows.find(({ isGroup, nodeId }) => !isGroup && nodeId === selected)?.place ?? -1,
  };
}
