import { countOf, formatCount } from "../format/count.js";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { greatestRunning } from "./canvas/draw-overview.js";
import { useTimeline } from "./hook/use-timeline.js";
import { Overview } from "./overview.js";
import { TimelineBar } from "./timeline-bar.js";
import { TimelineCanvas } from "./timeline-canvas.js";
import styles from "./timeline.module.css";
import type { TimelineProps } from "./timeline-props.js";
import { NodeTree } from "./tree/node-tree.js";

/** Nodes of an execution: their tree, and beside it when each was queued and ran. */
export function Timeline(props: TimelineProps) {
  const { noun, client, titleOf, colours, mark, formatDuration, order, onOrder, selected } = props;
  const [isTraced, setTraced] = useState(false);
  const scroller = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const { summary, overview, time, rowView, timeText, ...state } = useTimeline(props, { scroller, body });
  const revealSelected = useEffectEvent(() => {
    if (selected !== undefined) state.reveal(selected);
  });
  useEffect(() => {
    client.setOrder(order);
    revealSelected();
  }, [client, order]);
  useEffect(() => client.trace(isTraced), [client, isTraced]);
  return (
    <div className={styles["timeline"]}>
      <TimelineBar
        order={order}
        isFit={time.mode === "fit"}
        isFollowing={time.mode === "follow"}
        isWhole={rowView.isApart}
        isTraced={isTraced}
        onOrder={onOrder}
        onFit={() => time.setMode("fit")}
        onFollow={(isFollowing) => time.setMode(isFollowing ? "follow" : "free")}
        onWhole={rowView.setWhole}
        onTrace={setTraced}
      />
      <div className={styles["totals"]}>
        <b>{countOf(summary?.nodes ?? 0, noun, `${noun}s`)}</b>
        <br />
        {overview && `running at once, at most ${formatCount(greatestRunning(overview))}`}
      </div>
      <Overview counts={overview} time={time} colours={colours} alignMs={state.alignMs} timeText={timeText} />
      <NodeTree
        label={noun === "item" ? "Items" : "Nodes"}
        count={state.rows}
        rows={state.shownRows}
        titleOf={titleOf}
        scroller={scroller}
        selected={selected}
        current={state.current}
        mark={mark}
        durationText={formatDuration}
        nowMs={state.nowMs}
        timeText={timeText}
        onCurrent={state.setCurrent}
        onSelect={state.select}
        onExpand={state.expand}
        onScroll={state.setScrollPx}
      />
      <div ref={body} className={styles["body"]}>
        <TimelineCanvas size={state.size} frame={state.frame} cursor={state.cursor} rows={state.rows} gestures={state.gestures} />
      </div>
    </div>
  );
}
