import { type FormEvent, useState } from "react";
import type { ExecutionKey } from "../../../api/scope.js";
import { Button } from "../../../control/button.js";
import { SearchInput } from "../../../control/field.js";
import { itemTablePath } from "../../../node-table/table-path.js";
import styles from "./items.module.css";
import { TimelineView } from "./timeline-view.js";
import { useTableStream } from "./use-table-stream.js";

interface ItemsProps {
  readonly executionKey: ExecutionKey;
  readonly node: string;
  /** Number of the array's attempt, from 0; empty: the last one. */
  readonly attempt: string;
  /** Index of the selected item; empty for none. */
  readonly selected: string;
  onSelect(item: string): void;
}

const INDEX = /^\d{1,9}$/;

/** Items of an array node over time, and a field that opens one by its index. */
export function Items({ executionKey, node, attempt, selected, onSelect }: ItemsProps) {
  const client = useTableStream(itemTablePath(executionKey, node, INDEX.test(attempt) ? Number(attempt) : undefined));
  const [typed, setTyped] = useState("");
  const open = (event: FormEvent): void => {
    event.preventDefault();
    if (INDEX.test(typed)) onSelect(String(Number(typed)));
  };
  return (
    <section className={styles.items} aria-label="Items">
      <form className={styles.find} onSubmit={open}>
        <SearchInput label="Index of an item" inputMode="numeric" value={typed} onChange={({ target }) => setTyped(target.value.trim())} />
        <Button type="submit" disabled={!INDEX.test(typed)}>
          Open its log
        </Button>
      </form>
      {client !== undefined && <TimelineView noun="item" client={client} selected={selected} onSelect={onSelect} />}
    </section>
  );
}
