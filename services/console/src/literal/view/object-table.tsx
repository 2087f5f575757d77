import { useState } from "react";
import { Button } from "../../control/button.js";
import type { DataObject } from "../data/data.js";
import { formatData } from "../data/json-text.js";
import styles from "./value-view.module.css";

/** Rows that are shown at first. */
const FIRST_ROWS = 20;
/** Rows that are in the page at most. */
const MAX_ROWS = 200;
const MAX_COLUMNS = 30;

/** List of objects: a row for each, a column for each field. */
export function ObjectTable({ rows }: { readonly rows: readonly DataObject[] }) {
  const [count, setCount] = useState(FIRST_ROWS);
  const columns = [...new Set(rows.slice(0, MAX_ROWS).flatMap((row) => Object.keys(row)))].slice(0, MAX_COLUMNS);
  const shown = rows.slice(0, count);
  return (
    <div className={styles.scroll} tabIndex={0} role="region" aria-label="Table of the values">
      <table className={styles.table}>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, index) => (
            <tr key={index}>
              {columns.map((name) => (
                <td key={name}>{row[name] === undefined ? "" : textOf(row[name])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > count && count < MAX_ROWS && (
        <Button small kind="quiet" onClick={() => setCount(MAX_ROWS)}>
          {`Show ${Math.min(rows.length, MAX_ROWS)} of ${rows.length} rows`}
        </Button>
      )}
      {rows.length > MAX_ROWS && count === MAX_ROWS && (
        <p className={styles.note}>{`The first ${MAX_ROWS} of ${rows.length} rows: copy the value to see all.`}</p>
      )}
    </div>
  );
}

const textOf = (value: DataObject[string]): string => (typeof value === "string" ? value : formatData(value));
