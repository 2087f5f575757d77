import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import { type LineExtent, type LinePlace, movePlace, placeAround, placeAt, scrollTopOf, spacerPx } from "./line-viewport.js";

/** Lines that are drawn above and below the view. */
const OVERSCAN = 12;
/** Time without scrolling after which the scroll bar is set to the place that it shows, ms. */
const IDLE_MS = 150;
const DEFAULT_ROW_PX = 20;

/** Lines from a number up to another, which is not included. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
}

interface LineScrollOptions {
  readonly lines: number;
  /** The end is kept in sight. */
  readonly isFollowing: boolean;
  /** Lines whose texts are known. */
  readonly known: LineRange | undefined;
  onFollow(isFollowing: boolean): void;
}

interface LineScroll {
  readonly scroller: RefObject<HTMLDivElement | null>;
  /** Element whose children are the drawn lines. */
  readonly block: RefObject<HTMLDivElement | null>;
  /** Lines in sight, whose texts are needed. */
  readonly wanted: LineRange;
  /**
   * Lines that are drawn. While the end is followed these are the last known ones: a frame draws
   * new lines with their texts, and not first without them.
   */
  readonly drawn: LineRange;
  readonly spacerPx: number;
  onScroll(): void;
  /** Shows a line in the middle. */
  goTo(line: number): void;
}

/**
 * Scrolls any number of lines, of which those in sight are drawn. Lines may have several heights,
 * such as wrapped ones: short ways are pixels, long ways are shares of the lines.
 */
export function useLineScroll({ lines, isFollowing, known, onFollow }: LineScrollOptions): LineScroll {
  const scroller = useRef<HTMLDivElement>(null);
  const block = useRef<HTMLDivElement>(null);
  const lastTop = useRef(0);
  const idle = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [view, setView] = useState({ rowPx: DEFAULT_ROW_PX, viewPx: 0 });
  const [place, setPlace] = useState<LinePlace>({ line: 0, offsetPx: 0 });
  const extent: LineExtent = { lines, ...view };
  const count = Math.ceil(view.viewPx / view.rowPx) + OVERSCAN;
  const wanted: LineRange = {
    from: Math.max(0, isFollowing ? lines - count : Math.min(place.line, lines - 1) - OVERSCAN),
    to: isFollowing ? lines : Math.min(lines, place.line + count),
  };
  const range = isFollowing && known !== undefined && known.to > known.from ? known : wanted;
  const { from } = range;

  useEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const measure = (): void => {
      const rowPx = Number.parseFloat(getComputedStyle(element).getPropertyValue("--log-row")) || DEFAULT_ROW_PX;
      setView({ rowPx, viewPx: element.clientHeight });
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const heightOf = (line: number): number => heightIn(block.current, line - from) ?? view.rowPx;
  const moveBar = (next: LinePlace): void => {
    const element = scroller.current;
    if (element === null) return;
    element.scrollTop = scrollTopOf(next, extent);
    lastTop.current = element.scrollTop;
  };

  // Lines lie where the scroll bar is: heights are known once they are drawn.
  useLayoutEffect(() => {
    const [element, drawn] = [scroller.current, block.current];
    if (element === null || drawn === null) return;
    if (isFollowing) {
      drawn.style.top = `${Math.max(0, spacerPx(extent) - drawn.offsetHeight)}px`;
      element.scrollTop = element.scrollHeight;
      lastTop.current = element.scrollTop;
    } else {
      const first = drawn.children[place.line - from];
      const above = first instanceof HTMLElement ? first.offsetTop : 0;
      drawn.style.top = `${element.scrollTop - above - place.offsetPx}px`;
    }
  });

  const onScroll = (): void => {
    const [element, drawn] = [scroller.current, block.current];
    if (element === null || drawn === null) return;
    const [top, before] = [element.scrollTop, lastTop.current];
    const delta = top - before;
    if (delta === 0) return;
    lastTop.current = top;
    if (delta > 0 && top >= element.scrollHeight - element.clientHeight - 2) return onFollow(true);
    const start = isFollowing ? placeInView(drawn, from, before) : place;
    const isFine = Math.abs(delta) <= 2 * view.viewPx;
    const next = isFine ? movePlace(start, delta, { heightOf, lines }) : placeAt(top, extent);
    if (isFollowing) onFollow(false);
    setPlace(next);
    clearTimeout(idle.current);
    idle.current = setTimeout(() => {
      moveBar(next);
      setPlace({ ...next });
    }, IDLE_MS);
  };

  const goTo = (line: number): void => {
    const next = placeAround(line, { ...extent, viewPx: scroller.current?.clientHeight ?? view.viewPx });
    clearTimeout(idle.current);
    if (isFollowing) onFollow(false);
    moveBar(next);
    setPlace(next);
  };
  return { scroller, block, wanted, drawn: range, spacerPx: spacerPx(extent), onScroll, goTo };
}

function heightIn(block: HTMLElement | null, index: number): number | undefined {
  const child = block?.children[index];
  return child instanceof HTMLElement ? child.offsetHeight : undefined;
}

/** Finds the first line of a block that is in sight. */
function placeInView(block: HTMLElement, from: number, scrollTop: number): LinePlace {
  const above = scrollTop - block.offsetTop;
  const children = [...block.children].filter((child) => child instanceof HTMLElement);
  const index = children.findIndex((child) => child.offsetTop + child.offsetHeight > above);
  const child = children[index];
  return child === undefined ? { line: from, offsetPx: 0 } : { line: from + index, offsetPx: above - child.offsetTop };
}
