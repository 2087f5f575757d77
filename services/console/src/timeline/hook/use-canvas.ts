import { type RefObject, useEffect, useState } from "react";
import type { CanvasSize, DrawContext } from "../canvas/draw-context.js";

/** Returns the size of an element, zero until it is laid out. */
export function useSize(element: RefObject<HTMLElement | null>): CanvasSize {
  const [size, setSize] = useState<CanvasSize>({ widthPx: 0, heightPx: 0, ratio: 1 });
  useEffect(() => {
    if (element.current === null) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry === undefined) return;
      const { width, height } = entry.contentRect;
      setSize({ widthPx: width, heightPx: height, ratio: devicePixelRatio });
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return size;
}

/** Draws on a canvas in the next frame whenever the drawing or the size changes. */
export function useDrawing(canvas: RefObject<HTMLCanvasElement | null>, size: CanvasSize, draw: (context: DrawContext) => void): void {
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      const context = canvas.current?.getContext("2d");
      if (!canvas.current || !context || size.widthPx === 0) return;
      const [width, height] = [Math.round(size.widthPx * size.ratio), Math.round(size.heightPx * size.ratio)];
      // Setting the size of a canvas drops its contents.
      if (canvas.current.width !== width) canvas.current.width = width;
      if (canvas.current.height !== height) canvas.current.height = height;
      draw(context);
    });
    return () => cancelAnimationFrame(frame);
  }, [canvas, size, draw]);
}
