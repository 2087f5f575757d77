import { useRef, useState } from "react";
import type { CanvasSize } from "./canvas/draw-context.js";
import { type CursorFrame, drawCursor } from "./canvas/draw-cursor.js";
import { drawFrame } from "./canvas/draw-frame.js";
import { placeAt } from "./canvas/row-viewport.js";
import type { Frame } from "./canvas/frame.js";
import { useDrawing } from "./hook/use-canvas.js";
import { type Gestures, useGestures } from "./hook/use-gestures.js";
import styles from "./timeline.module.css";

export interface TimelineCanvasProps {
  readonly size: CanvasSize;
  /** Undefined until there are rows. */
  readonly frame: Frame | undefined;
  readonly cursor: Omit<CursorFrame, keyof CanvasSize | "pointer">;
  /** Number of rows. */
  readonly rows: number;
  readonly gestures: Omit<Gestures, "onHover">;
}

/** Cursor on one canvas, bars of the rows on another above it; the tree says the same in words. */
export function TimelineCanvas({ size, frame, cursor, rows, gestures }: TimelineCanvasProps) {
  const area = useRef<HTMLDivElement>(null);
  const data = useRef<HTMLCanvasElement>(null);
  const under = useRef<HTMLCanvasElement>(null);
  const [point, setPoint] = useState<{ readonly x: number; readonly y: number } | undefined>();
  const pointer = point && { x: point.x, place: placeAt(cursor.viewport, point.y, rows) };
  useGestures(area, { ...gestures, onHover: setPoint });
  useDrawing(data, size, (context) => frame && drawFrame(context, frame));
  useDrawing(under, size, (context) => drawCursor(context, { ...size, ...cursor, pointer }));
  return (
    <div ref={area} className={styles["canvases"]} aria-hidden="true">
      <canvas ref={under} />
      <canvas ref={data} />
    </div>
  );
}
