import { type RefObject, useEffect, useState } from "react";
import type { RowView } from "../../node-table/session/protocol.js";
import { spanOf, timeOf } from "../axis/time-window.js";
import { placeAt, ROW_PX } from "../canvas/row-viewport.js";
import { timelineFrame } from "../timeline-frame.js";
import type { TimelineProps } from "../timeline-props.js";
import { useSize } from "./use-canvas.js";
import { clockStepMs, useClock } from "./use-clock.js";
import type { Gestures } from "./use-gestures.js";
import { useRevealedNode } from "./use-revealed-node.js";
import { useRowView } from "./use-row-view.js";
import { useShownParts } from "./use-shown-parts.js";
import { useStore } from "../../app/use-store.js";
import { useTimeWindow } from "./use-time-window.js";

/** Elements of a timeline whose sizes and positions matter. */
export interface TimelineElements {
  /** Element of the tree that scrolls. */
  readonly scroller: RefObject<HTMLDivElement | null>;
  /** Element around the canvases. */
  readonly body: RefObject<HTMLDivElement | null>;
}

/** Holds the state of a timeline: the part of time and rows in sight, the cursor, the drawing. */
export function useTimeline(props: TimelineProps, { scroller, body }: TimelineElements) {
  const { client, colours, formatTime, formatDuration, clockTime, clockSkewMs = 0, order, selected, onSelect } = props;
  const summary = useStore(client.summary);
  const shown = useStore(client.shown);
  const overview = useStore(client.overview);
  const createdAtMs = useStore(client.execution)?.createdAtMs;
  const [scrollPx, setScrollPx] = useState(0);
  const [current, setCurrent] = useState(-1);
  const [target, setTarget] = useState<number | undefined>();
  const size = useSize(body);
  const { rows = 0, hasEnded = false, lastMs = 0, isComplete = false } = summary ?? {};
  const [stepMs, setStepMs] = useState(() => clockStepMs(0));
  const nowMs = useClock({ createdAtMs, hasEnded, lastMs, clockSkewMs, stepMs });
  const time = useTimeWindow(overview, nowMs);
  const wantedStepMs = clockStepMs(spanOf(time.window) / Math.max(size.widthPx, 1));
  useEffect(() => setStepMs(wantedStepMs), [wantedStepMs]);
  const scrollTree = (toPx: number): void => scroller.current?.scrollTo({ top: toPx });
  const rowView = useRowView({ rows, heightPx: size.heightPx, scrollPx, scrollTree });
  const { viewport, isApart } = rowView;
  const isGrowing = !hasEnded && shown !== undefined && shown.groups.length > 0;
  useShownParts({ client, viewport, scrollPx, widthPx: size.widthPx, time, hasGroups: order === "tree", isGrowing });
  const goTo = (place: number): void => {
    setCurrent(place);
    setTarget(place);
  };
  // A row that has just been opened can be scrolled to when the tree has grown.
  const hasTarget = target !== undefined && target < rows;
  useEffect(() => {
    if (!hasTarget) return;
    scroller.current?.scrollTo({ top: target * ROW_PX - scroller.current.clientHeight / 2 });
    setTarget(undefined);
  }, [hasTarget, target, scroller]);
  const shownRows = shown?.rows ?? [];
  useRevealedNode({ client, selected, isComplete, isShown: shownRows.some(({ nodeId }) => nodeId === selected), onPlace: goTo });
  const expand = (row: RowView, isExpanded: boolean): void => {
    setCurrent(row.place);
    client.expand(row.id, isExpanded);
  };
  const select = (row: RowView): void => {
    if (row.isGroup) return expand(row, row.isExpanded !== true);
    setCurrent(row.place);
    onSelect(row.nodeId);
  };
  const click = (x: number, y: number): void => {
    const at = time.folds.unfold(timeOf(time.window, size.widthPx, x));
    const fold = time.folds.stretches.find(({ fromMs, toMs }) => fromMs < at && at < toMs);
    if (fold !== undefined) return time.openFold(fold);
    const place = placeAt(viewport, y, rows);
    if (place === -1) return;
    const row = shownRows.find((each) => each.place === place);
    if (isApart || row === undefined) return goTo(place);
    select(row);
  };
  const gestures: Omit<Gestures, "onHover"> = {
    onPan: (dxPx, dyPx) => {
      if (dxPx !== 0) time.pan(-dxPx / size.widthPx);
      if (dyPx !== 0) rowView.scroll(-dyPx);
    },
    onZoom: (factor, x) => time.zoom(factor, x / size.widthPx),
    onZoomRows: rowView.zoom,
    onClick: click,
  };
  const timeText = (timeMs: number, stepMs?: number): string => formatTime((createdAtMs ?? 0) + timeMs, stepMs);
  const alignMs = clockTime(createdAtMs ?? 0);
  const state = { size, viewport, time, nowMs, isLive: !hasEnded, alignMs, colours, selected, durationText: formatDuration, timeText };
  return {
    summary,
    overview,
    rows,
    shownRows,
    size,
    time,
    nowMs,
    rowView,
    current,
    alignMs,
    gestures,
    expand,
    select,
    setCurrent,
    setScrollPx,
    frame: shown && timelineFrame({ shown, ...state }),
    cursor: {
      viewport,
      colours,
      treeRows: isApart ? { from: scrollPx / ROW_PX, to: (scrollPx + size.heightPx) / ROW_PX } : undefined,
    },
    timeText,
    /** Shows a node in another order. */
    reveal: (nodeId: string): void => void client.reveal(nodeId).then((place) => place >= 0 && goTo(place)),
  };
}
