import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";
import { classes } from "./classes.js";
import styles from "./table.module.css";
import { useIsPhone } from "./use-phone.js";

export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  /** Leaves the title to assistive technology. */
  readonly hiddenTitle?: boolean;
  /** Width as a track of a grid: `minmax(12ch, 1fr)`. */
  readonly track: string;
  /** Aligns numbers at their end. */
  readonly end?: boolean;
  /** Place on a phone's card; default: not shown. */
  readonly card?: "topLeft" | "topRight" | "middle" | "bottomLeft" | "bottomRight" | "select";
  readonly cell: (row: Row) => ReactNode;
}

interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowId: (row: Row) => string;
  readonly isSelected?: (row: Row) => boolean;
  /** Index of the row that keys act on. */
  readonly current?: number | undefined;
  /** Rows in all, if more are there than loaded. */
  readonly total?: number | undefined;
  /** Called when the last rows come into sight. */
  onEndInSight?(): void;
  /** Content after the last row. */
  readonly end?: ReactNode;
}

const ROW = 30;
const CARD = 84;
const OVERSCAN = 12;

/** Table whose rows exist only while they are in sight. On a phone each row is a card. */
export function Table<Row>({ label, columns, rows, rowId, isSelected, current, total, onEndInSight, end }: TableProps<Row>) {
  "use no memo";
  const scroller = useRef<HTMLDivElement>(null);
  const isPhone = useIsPhone();
  const size = isPhone ? CARD : ROW;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => size,
    overscan: OVERSCAN,
  });
  useEffect(() => virtual.measure(), [size, virtual]);
  useEffect(() => {
    if (current === undefined) return;
    virtual.scrollToIndex(current);
    requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(`[data-index="${current}"] a`)?.focus({ preventScroll: true }),
    );
  }, [current, virtual]);
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - OVERSCAN) onEndInSight?.();
  }, [last, rows.length, onEndInSight]);
  const tracks = isPhone ? undefined : { gridTemplateColumns: columns.map(({ track }) => track).join(" ") };
  return (
    <div ref={scroller} className={styles.scroller} role="table" aria-label={label} aria-rowcount={total ?? rows.length + 1} tabIndex={0}>
      <div role="rowgroup">
        <div role="row" aria-rowindex={1} className={styles.header} style={tracks}>
          {columns.map(({ id, title, hiddenTitle, end: atEnd }) => (
            <div key={id} role="columnheader" className={classes(styles.heading, atEnd && styles.end)}>
              <span className={hiddenTitle ? styles.unseen : undefined}>{title}</span>
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" className={styles.body} style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start, key }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <div
              key={key}
              role="row"
              aria-rowindex={index + 2}
              data-index={index}
              data-row={rowId(row)}
              className={classes(styles.row, isSelected?.(row) && styles.selected, index === current && styles.current)}
              style={{ ...tracks, transform: `translateY(${start}px)` }}
            >
              {columns.map(({ id, cell, end: atEnd, card = "hidden" }) => (
                <div key={id} role="cell" className={classes(styles.cell, atEnd && styles.end, styles[card])}>
                  {cell(row)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
      {end}
    </div>
  );
}
