import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, type RefObject, useId } from "react";
import type { RowView } from "../../node-table/session/protocol.js";
import type { NodeStateName } from "../../node-table/table/node-state.js";
import { ROW_PX } from "../canvas/row-viewport.js";
import styles from "./node-tree.module.css";
import { rowFigure, type RowTitle, rowWords, type RowWordOptions } from "./row-text.js";
import { actOfKey } from "./tree-keys.js";
import { TreeRow } from "./tree-row.js";

/** Rows above and below those in sight. */
const OVERSCAN = 8;

export interface NodeTreeProps extends RowWordOptions {
  readonly label: string;
  /** Number of rows. */
  readonly count: number;
  /** Rows that are loaded, in their order and without gaps. */
  readonly rows: readonly RowView[];
  /** Names a row whose name the table does not have. */
  readonly titleOf?: ((row: RowView) => RowTitle | undefined) | undefined;
  /** Element that scrolls. */
  readonly scroller: RefObject<HTMLDivElement | null>;
  /** Id of the selected node; undefined for none. */
  readonly selected: string | undefined;
  /** Place of the row that keys start from, −1 for none. */
  readonly current: number;
  readonly mark: (state: NodeStateName) => ReactNode;
  readonly durationText: (durationMs: number) => string;
  onCurrent(place: number): void;
  /** Selects the node of a row, or opens or closes a group. */
  onSelect(row: RowView): void;
  onExpand(row: RowView, isExpanded: boolean): void;
  onScroll(scrollPx: number): void;
}

/**
 * Tree of nodes as a treegrid. The grid keeps the focus and names its row, since rows come and go
 * as it scrolls.
 */
export function NodeTree(props: NodeTreeProps) {
  // The virtualizer is one object that changes: React Compiler must not memoize what it returns.
  "use no memo";
  const { label, count, rows, scroller, titleOf, selected, current, mark, durationText, nowMs, timeText } = props;
  const { onCurrent, onSelect, onExpand, onScroll } = props;
  const prefix = useId();
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    // Rows that are there when the tree is drawn first need no second drawing.
    initialRect: { width: innerWidth, height: innerHeight },
  });
  const rowAt = (place: number): RowView | undefined => rows[place - (rows[0]?.place ?? 0)];
  const press = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const rowsOfPage = Math.max(Math.floor((scroller.current?.clientHeight ?? 0) / ROW_PX) - 1, 1);
    const act = actOfKey(event.key, { place: current, row: rowAt(current), rows: count, rowsOfPage });
    if (act === undefined) return;
    event.preventDefault();
    if (act.kind === "expand") onExpand(act.row, act.isExpanded);
    else if (act.kind === "select") onSelect(act.row);
    else {
      onCurrent(act.place);
      virtualizer.scrollToIndex(act.place);
    }
  };
  const shown = virtualizer.getVirtualItems();
  const isCurrentShown = shown.some(({ index }) => index === current) && rowAt(current) !== undefined;
  return (
    <div
      ref={scroller}
      role="treegrid"
      aria-label={label}
      aria-rowcount={count}
      aria-activedescendant={isCurrentShown ? `${prefix}${current}` : undefined}
      tabIndex={0}
      className={styles["tree"]}
      onKeyDown={press}
      onScroll={(event) => onScroll(event.currentTarget.scrollTop)}
    >
      <div role="rowgroup" className={styles["rows"]} style={{ height: virtualizer.getTotalSize() }}>
        {shown.map(({ index, start }) => {
          const row = rowAt(index);
          return (
            row && (
              <TreeRow
                key={row.id}
                row={row}
                title={titleOf?.(row)}
                noun={label.toLowerCase()}
                elementId={`${prefix}${index}`}
                topPx={start}
                isSelected={!row.isGroup && row.nodeId === selected}
                isCurrent={index === current}
                mark={mark}
                words={rowWords(row, { nowMs, timeText })}
                figure={rowFigure(row, nowMs, durationText)}
                onSelect={onSelect}
                onExpand={onExpand}
              />
            )
          );
        })}
      </div>
    </div>
  );
}
