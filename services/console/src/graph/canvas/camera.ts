import type { CanvasSize } from "../../timeline/canvas/draw-context.js";
import type { Rect } from "../scene/build-grid.js";

/** Part of a scene that a canvas shows. */
export interface Camera {
  /** Place of the canvas's upper left corner in the scene. */
  readonly left: number;
  readonly top: number;
  /** Pixels for each pixel at 100 % zoom. */
  readonly scale: number;
}

/** Size of what a camera looks at. */
export interface Whole {
  readonly totalWidth: number;
  readonly totalHeight: number;
}

const MAX_SCALE = 2;
/** A scene that is small is not shown larger than this at first. */
const MAX_FIT = 1;
/** Share of the canvas that a whole scene fills. */
const FILL = 0.96;

/** Shows all of a scene in the middle. */
export function fitCamera({ totalWidth, totalHeight }: Whole, { widthPx, heightPx }: CanvasSize): Camera {
  const scale = Math.min((widthPx * FILL) / Math.max(totalWidth, 1), (heightPx * FILL) / Math.max(totalHeight, 1), MAX_FIT);
  return { scale, left: (totalWidth - widthPx / scale) / 2, top: (totalHeight - heightPx / scale) / 2 };
}

/** Zooms by a factor around a point of the canvas. */
export function zoomCamera(
  { left, top, scale }: Camera,
  factor: number,
  point: { readonly x: number; readonly y: number },
  least: number,
): Camera {
  const next = Math.min(Math.max(scale * factor, Math.min(least, scale)), MAX_SCALE);
  return { scale: next, left: left + point.x / scale - point.x / next, top: top + point.y / scale - point.y / next };
}

/** Moves by pixels of the canvas, as far as some of the scene stays in sight. */
export function panCamera(
  { left, top, scale }: Camera,
  by: { readonly dxPx: number; readonly dyPx: number },
  whole: Whole,
  { widthPx, heightPx }: CanvasSize,
): Camera {
  const clamp = (value: number, total: number, seenPx: number): number => {
    const seen = seenPx / scale;
    return Math.min(Math.max(value, -seen / 2), Math.max(total - seen / 2, -seen / 2));
  };
  return {
    scale,
    left: clamp(left - by.dxPx / scale, whole.totalWidth, widthPx),
    top: clamp(top - by.dyPx / scale, whole.totalHeight, heightPx),
  };
}

/** Moves so that a rectangle is in sight, not at the border; zooms in if it is too small. */
export function revealRect(
  camera: Camera,
  { left, top, right, bottom }: Rect,
  { widthPx, heightPx }: CanvasSize,
  leastScale: number,
): Camera {
  const scale = Math.max(camera.scale, Math.min(leastScale, widthPx / (right - left), heightPx / (bottom - top)));
  const [seenX, seenY] = [widthPx / scale, heightPx / scale];
  const isIn =
    scale === camera.scale &&
    left >= camera.left + seenX * EDGE &&
    right <= camera.left + seenX * (1 - EDGE) &&
    top >= camera.top + seenY * EDGE &&
    bottom <= camera.top + seenY * (1 - EDGE);
  return isIn ? camera : { scale, left: (left + right - seenX) / 2, top: (top + bottom - seenY) / 2 };
}

/** Share of the canvas at each side that is the border. */
const EDGE = 0.04;

/** Rectangle of the scene that is in sight. */
export function seenRect({ left, top, scale }: Camera, { widthPx, heightPx }: CanvasSize): Rect {
  return { left, top, right: left + widthPx / scale, bottom: top + heightPx / scale };
}
