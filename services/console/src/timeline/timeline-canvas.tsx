import { useRef } from "react";
import type { CanvasSize } from "./canvas/draw-context.js";
import { type CursorFrame, drawCursor } from "./canvas/draw-cursor.js";
import { drawFrame } from "./canvas/draw-frame.js";
import type { Frame } from "./canvas/frame.js";
import { useDrawing } from "./hook/use-canvas.js";
import { type Gestures, useGestures } from "./hook/use-gestures.js";
import styles from "./timeline.module.css";

export interface TimelineCanvasProps {
  readonly size: CanvasSize;
  /** Undefined until there are rows. */
  readonly frame: Frame | undefined;
  readonly cursor: Omit<CursorFrame, keyof CanvasSize>;
  readonly gestures: Gestures;
}

/** Bars of the rows on one canvas, the cursor on another; the tree says the same in words. */
export function TimelineCanvas({ size, frame, cursor, gestures }: TimelineCanvasProps) {
  const area = useRef<HTMLDivElement>(null);
  const data = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  useGestures(area, gestures);
  useDrawing(data, size, (context) => frame && drawFrame(context, frame));
  useDrawing(over, size, (context) => drawCursor(context, { ...size, ...cursor }));
  return (
    <div ref={area} className={styles["canvases"]} aria-hidden="true">
      <canvas ref={data} />
      <canvas ref={over} />
    </div>
  );
}
