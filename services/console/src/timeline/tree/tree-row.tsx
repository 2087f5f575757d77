import type { ReactNode } from "react";
import type { RowView } from "../../node-table/session/protocol.js";
import type { NodeStateName } from "../../node-table/table/node-state.js";
import styles from "./node-tree.module.css";
import { rowKind, rowName, type RowTitle } from "./row-text.js";

export interface TreeRowProps {
  readonly row: RowView;
  /** Noun of the members of groups. */
  readonly noun: string;
  /** Name that the table does not have. */
  readonly title: RowTitle | undefined;
  /** Id of the element, which the tree names as its active descendant. */
  readonly elementId: string;
  readonly topPx: number;
  readonly isSelected: boolean;
  readonly isCurrent: boolean;
  readonly mark: (state: NodeStateName) => ReactNode;
  /** Phase, start and duration in words. */
  readonly words: string;
  /** Duration, or the number of a group's nodes. */
  readonly figure: string;
  onSelect(row: RowView): void;
  onExpand(row: RowView, isExpanded: boolean): void;
}

/** Row of the tree: opens, or selects its node, wherever it is clicked. */
export function TreeRow(props: TreeRowProps) {
  const { row, noun, title, elementId, topPx, isSelected, isCurrent, mark, words, figure, onSelect, onExpand } = props;
  const kind = rowKind(row, { noun, title });
  return (
    <div
      role="row"
      id={elementId}
      aria-rowindex={row.place + 1}
      aria-level={row.depth + 1}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-expanded={row.isExpanded}
      aria-selected={isSelected}
      className={[styles["row"], isSelected && styles["selected"], isCurrent && styles["current"]].filter(Boolean).join(" ")}
      style={{ transform: `translateY(${topPx}px)` }}
      onClick={() => onSelect(row)}
    >
      <div role="gridcell" className={styles["name"]} style={{ paddingInlineStart: `calc(${row.depth} * var(--indent))` }}>
        <span
          className={styles["twist"]}
          aria-hidden="true"
          data-open={row.isExpanded}
          onClick={(event) => {
            if (row.isExpanded === undefined) return;
            event.stopPropagation();
            onExpand(row, !row.isExpanded);
          }}
        >
          {row.isExpanded !== undefined && (
            <svg viewBox="0 0 16 16">
              <path d="m6 4 4 4-4 4" />
            </svg>
          )}
        </span>
        <span className={styles["mark"]} aria-hidden="true">
          {mark(row.state)}
        </span>
        <span className={styles["title"]} title={row.nodeId}>
          {rowName(row, title)} {kind !== "" && <small>{kind}</small>}
          {row.attempts > 1 && (
            <small className={styles["attempt"]} aria-hidden="true">
              {" "}
              attempt {row.attempts}
            </small>
          )}
        </span>
        <span className={styles["words"]}>, {words}</span>
      </div>
      <div role="gridcell" className={styles["figure"]}>
        {figure}
      </div>
    </div>
  );
}
