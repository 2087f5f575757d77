import type { ReactNode } from "react";
import { type Data, isDataList, isDataObject } from "../data/data.js";
import { formatData } from "../data/json-text.js";
import styles from "./value-view.module.css";

/** Parts of a list or object that are open at first. */
const MAX_OPEN = 12;
/** Longest list or object whose parts are all in the page. */
const MAX_PARTS = 200;

/** Data as a tree, whose lists and objects open and close. */
export function DataTree({ data }: { readonly data: Data }) {
  return <div className={styles.tree}>{branch(data, undefined, 0)}</div>;
}

function branch(data: Data, name: string | undefined, depth: number): ReactNode {
  const label = name === undefined ? "" : `${name}: `;
  const parts = isDataList(data)
    ? data.map((each, index) => [String(index), each] as const)
    : isDataObject(data)
      ? Object.entries(data)
      : [];
  if (parts.length === 0)
    return (
      <div key={name} className={styles.leaf}>
        <span className={styles.key}>{label}</span>
        {formatData(data)}
      </div>
    );
  return (
    <details key={name} open={depth === 0 || (depth === 1 && parts.length <= MAX_OPEN)}>
      <summary>
        <span className={styles.key}>{label}</span>
        {isDataList(data) ? `list of ${parts.length}` : `${parts.length} ${parts.length === 1 ? "field" : "fields"}`}
      </summary>
      <div className={styles.parts}>
        {parts.slice(0, MAX_PARTS).map(([key, each]) => branch(each, key, depth + 1))}
        {parts.length > MAX_PARTS && <div className={styles.leaf}>{`${parts.length - MAX_PARTS} more: copy the value to see them`}</div>}
      </div>
    </details>
  );
}
