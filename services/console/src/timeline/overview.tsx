import { type PointerEvent, useRef, useState } from "react";
import { beginBrush, type Brush, moveBrush } from "./axis/brush.js";
import { ticksOf, tickStepMs } from "./axis/ticks.js";
import type { TimeWindow } from "./axis/time-window.js";
import type { TimelineColours } from "./canvas/draw-context.js";
import { drawOverview } from "./canvas/draw-overview.js";
import { useDrawing, useSize } from "./hook/use-canvas.js";
import type { TimeView } from "./hook/use-time-window.js";
import type { OverviewCounts } from "../node-table/session/protocol.js";
import styles from "./timeline.module.css";

export interface OverviewProps {
  readonly counts: OverviewCounts | undefined;
  readonly time: TimeView;
  readonly colours: TimelineColours;
  readonly alignMs: number;
  /** Formats a time since the creation of the execution; `stepMs`: distance of the ticks. */
  readonly timeText: (timeMs: number, stepMs: number) => string;
}

/** Nodes that run and wait at once, over the whole time; a brush chooses the part to show. */
export function Overview({ counts, time, colours, alignMs, timeText }: OverviewProps) {
  const area = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [brush, setBrush] = useState<Brush | undefined>();
  const size = useSize(area);
  const { limits, window, folds } = time;
  const { widthPx } = size;
  useDrawing(canvas, size, (context) => {
    if (counts === undefined) return;
    const stepMs = tickStepMs(limits, widthPx);
    const ticks = ticksOf({ window: limits, widthPx, folds, alignMs }).map((tick) => ({ ...tick, text: timeText(tick.timeMs, stepMs) }));
    drawOverview(context, { ...size, counts, limits, window, folds, ticks, colours });
  });
  const xOf = (event: PointerEvent<HTMLDivElement>): number => event.clientX - event.currentTarget.getBoundingClientRect().left;
  const show = (next: TimeWindow): void => time.setWindow(next);
  return (
    <div
      ref={area}
      className={styles["overview"]}
      aria-hidden="true"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setBrush(beginBrush(window, xOf(event), { widthPx, limits }));
      }}
      onPointerMove={(event) => brush && show(moveBrush(brush, xOf(event), { widthPx, limits }))}
      onPointerUp={() => setBrush(undefined)}
      onPointerCancel={() => setBrush(undefined)}
      onDoubleClick={() => time.setMode("fit")}
    >
      <canvas ref={canvas} />
    </div>
  );
}
