import { type RefObject, useEffect, useEffectEvent } from "react";

/** Distance within which a pointer that goes down and up is a click. */
const CLICK_PX = 4;
/** Factor of zoom for each pixel of the wheel. */
const WHEEL_RATE = 0.002;

/** Effects of pointers and the wheel; positions are pixels from the element's corner. */
export interface Gestures {
  readonly onPan: (dxPx: number, dyPx: number) => void;
  readonly onZoom: (factor: number, x: number, y: number) => void;
  readonly onZoomRows: (factor: number, y: number) => void;
  readonly onClick: (x: number, y: number) => void;
  readonly onHover: (point: { readonly x: number; readonly y: number } | undefined) => void;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * Listens for gestures: dragging pans, two fingers or Ctrl or ⌘ and the wheel zoom, Alt and the
 * wheel zoom rows, the wheel scrolls.
 */
export function useGestures(element: RefObject<HTMLElement | null>, gestures: Gestures): void {
  const on = useEffectEvent((apply: (current: Gestures) => void) => apply(gestures));
  useEffect(() => {
    const target = element.current;
    if (target === null) return;
    const stop = new AbortController();
    const options = { signal: stop.signal, passive: false };
    const at = ({ clientX, clientY }: MouseEvent): Point => {
      const { left, top } = target.getBoundingClientRect();
      return { x: clientX - left, y: clientY - top };
    };
    const held = new Map<number, Point>();
    let start: Point | undefined;
    target.addEventListener("wheel", (event) => on((current) => turnWheel(event, at(event), current)), options);
    target.addEventListener(
      "pointerdown",
      (event) => {
        target.setPointerCapture(event.pointerId);
        held.set(event.pointerId, at(event));
        start = held.size === 1 ? at(event) : undefined;
      },
      options,
    );
    target.addEventListener(
      "pointermove",
      (event) => {
        const [before, now] = [held.get(event.pointerId), at(event)];
        if (before === undefined) return on((current) => current.onHover(now));
        if (start !== undefined && distance(start, now) <= CLICK_PX) return;
        start = undefined;
        held.set(event.pointerId, now);
        const other = [...held].find(([id]) => id !== event.pointerId)?.[1];
        if (other === undefined) on((current) => current.onPan(now.x - before.x, now.y - before.y));
        else
          on((current) =>
            current.onZoom(distance(now, other) / Math.max(distance(before, other), 1), (now.x + other.x) / 2, (now.y + other.y) / 2),
          );
      },
      options,
    );
    const release = (event: PointerEvent): void => {
      held.delete(event.pointerId);
      const point = start;
      start = undefined;
      if (event.type === "pointerup" && point !== undefined) on((current) => current.onClick(point.x, point.y));
    };
    target.addEventListener("pointerup", release, options);
    target.addEventListener("pointercancel", release, options);
    target.addEventListener("pointerleave", () => on((current) => current.onHover(undefined)), options);
    return () => stop.abort();
  }, [element]);
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

function turnWheel(event: WheelEvent, { x, y }: Point, { onPan, onZoom, onZoomRows }: Gestures): void {
  event.preventDefault();
  const factor = Math.exp(-event.deltaY * WHEEL_RATE);
  if (event.ctrlKey || event.metaKey) onZoom(factor, x, y);
  else if (event.altKey) onZoomRows(factor, y);
  else onPan(-event.deltaX, -event.deltaY);
}
