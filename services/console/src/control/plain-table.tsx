import type { ReactNode } from "react";
import { classes } from "./classes.js";
import styles from "./plain-table.module.css";

export interface PlainColumn<Row> {
  readonly title: string;
  /** Aligns numbers and buttons at their end. */
  readonly end?: boolean;
  readonly cell: (row: Row) => ReactNode;
}

interface PlainTableProps<Row> {
  readonly label: string;
  readonly columns: readonly PlainColumn<Row>[];
  readonly rows: readonly Row[];
  readonly rowId: (row: Row) => string;
}

/** Table of few rows in a card. On a phone each row is a block of titles and values. */
export function PlainTable<Row>({ label, columns, rows, rowId }: PlainTableProps<Row>) {
  return (
    <table className={styles.table} role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ title, end }) => (
            <th key={title} scope="col" role="columnheader" className={classes(end && styles.end)}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={rowId(row)} role="row">
            {columns.map(({ title, end, cell }) => (
              <td key={title} role="cell" data-title={title} className={classes(end && styles.end)}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
