import { countOf } from "../../../format/count.js";
import { formatDuration } from "../../../format/duration.js";
import { UNFOLDED } from "../../../node-table/measure/time-folds.js";
import type { NodeTableClient } from "../../../node-table/node-table-client.js";
import type { ShownTable, TableSummary } from "../../../node-table/session/protocol.js";
import { readTokenColours } from "../../../theme/read-token-colours.js";
import { foldIdle } from "../../../timeline/axis/fold-idle.js";
import { wholeWindow } from "../../../timeline/axis/time-window.js";
import { drawFrame } from "../../../timeline/canvas/draw-frame.js";
import { ROW_PX } from "../../../timeline/canvas/row-viewport.js";
import styles from "../../../timeline/timeline.module.css";
import { timelineFrame } from "../../../timeline/timeline-frame.js";
import tree from "../../../timeline/tree/node-tree.module.css";
import { TIMELINE_TOKENS, timelineColours } from "../timeline/timeline-colours.js";
import { element, named } from "./element.js";
import { rowElement } from "./row-element.js";

/** First rows of a table that has some. */
export interface FirstRows {
  readonly shown: ShownTable;
  readonly summary: TableSummary;
  readonly overview: ReturnType<NodeTableClient["overview"]["get"]>;
  /** Time of the person's clock at the creation, as if it were in UTC. */
  readonly alignMs: number;
  /** Time of the last event or of now, milliseconds since the creation. */
  readonly nowMs: number;
}

/** A timeline that is drawn once. */
export interface DrawnTimeline {
  readonly element: HTMLElement;
  /** Draws the bars; the element must be in the page. */
  drawBars(): void;
}

/** Makes the timeline of the first rows, with the styles of `timeline.tsx`. */
export function timelineElement(first: FirstRows): DrawnTimeline {
  const { shown, summary, nowMs } = first;
  const canvas = document.createElement("canvas");
  const body = element(styles["body"], element(styles["canvases"], canvas));
  const rows = element(tree["rows"], ...shown.rows.map((row) => rowElement(row, nowMs)));
  rows.style.height = `${summary.rows * ROW_PX}px`;
  const totals = element(styles["totals"], named("b", undefined, countOf(summary.nodes, "node", "nodes")));
  const made = element(styles["timeline"], barElement(), totals, element(styles["overview"]), element(tree["tree"], rows), body);
  return { element: made, drawBars: () => drawBars(canvas, body, first) };
}

/** Bar of choices, which takes its place only. */
function barElement(): HTMLElement {
  const choice = document.createElement("button");
  choice.type = "button";
  choice.textContent = "Tree";
  choice.ariaPressed = "true";
  return element(styles["bar"], named("span", styles["choices"], choice));
}

function drawBars(canvas: HTMLCanvasElement, body: HTMLElement, { shown, overview, alignMs, nowMs }: FirstRows): void {
  const { width: widthPx, height: heightPx } = body.getBoundingClientRect();
  const ratio = devicePixelRatio;
  const context = canvas.getContext("2d");
  if (context === null || widthPx === 0) return;
  [canvas.width, canvas.height] = [Math.round(widthPx * ratio), Math.round(heightPx * ratio)];
  const folds = overview === undefined ? UNFOLDED : foldIdle(overview, []);
  drawFrame(
    context,
    timelineFrame({
      shown,
      size: { widthPx, heightPx, ratio },
      viewport: { top: 0, rowPx: ROW_PX, heightPx },
      time: { window: wholeWindow(folds, nowMs), folds, mode: "fit" },
      nowMs,
      isLive: false,
      alignMs,
      colours: timelineColours(readTokenColours(TIMELINE_TOKENS)),
      selected: undefined,
      durationText: formatDuration,
      timeText: () => "",
    }),
  );
}
