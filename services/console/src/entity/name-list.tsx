import type { ReactNode } from "react";
import { Empty, ErrorPanel } from "../control/error-panel.js";
import { SearchInput } from "../control/field.js";
import { ListPage } from "../control/list-page.js";
import { Key, Pill } from "../control/pill.js";
import { type Column, Table } from "../control/table.js";
import { useKeys } from "../app/use-keys.js";
import { useRowKeys } from "./use-row-keys.js";

interface NameListProps<Row> {
  readonly title: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while they are loaded. */
  readonly rows: readonly Row[] | undefined;
  readonly rowId: (row: Row) => string;
  readonly error: Error | null;
  readonly text: string;
  /** Further filters. */
  readonly filters?: ReactNode;
  readonly none: ReactNode;
  onText(text: string): void;
  onRetry(): void;
}

/** List of named entities with a field that filters it. */
export function NameList<Row>({ title, columns, rows, rowId, error, text, filters, none, onText, onRetry }: NameListProps<Row>) {
  const words = text.toLowerCase().split(/\s+/);
  const shown = rows?.filter((row) => words.every((word) => rowId(row).toLowerCase().includes(word))) ?? [];
  const current = useRowKeys(shown.length);
  const field = `find-${title.toLowerCase().replaceAll(" ", "-")}`;
  useKeys([{ keys: "/", label: "Find by name", group: "List", run: () => document.getElementById(field)?.focus() }]);
  return (
    <ListPage
      title={title}
      facts={rows !== undefined && <Pill>{shown.length === rows.length ? rows.length : `${shown.length} of ${rows.length}`}</Pill>}
      acts={
        <>
          {filters}
          <SearchInput
            id={field}
            label={`Name of ${title.toLowerCase()}`}
            value={text}
            end={<Key>/</Key>}
            onChange={({ target }) => onText(target.value)}
            onKeyDown={({ key, currentTarget }) => key === "Escape" && currentTarget.blur()}
          />
        </>
      }
    >
      {error !== null && rows === undefined ? (
        <ErrorPanel title={`The ${title.toLowerCase()} cannot be listed`} error={error} onRetry={onRetry} />
      ) : rows !== undefined && shown.length === 0 ? (
        <Empty title={rows.length === 0 ? `There are no ${title.toLowerCase()} yet` : "No name matches"}>{rows.length === 0 && none}</Empty>
      ) : (
        <Table label={title} columns={columns} rows={shown} rowId={rowId} current={current} />
      )}
    </ListPage>
  );
}
