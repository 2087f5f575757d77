import type { Query } from "@flyte-ts/postgres";
import type { Column, ColumnType } from "../../platform/index.js";

/**
 * A column of an entity that is stored from a message: select, insert, update and filters follow
 * from its declaration.
 */
export interface StoredColumn<Message> extends Column {
  /** Returns the value to store. Absent: the database sets the column. */
  readonly value?: (message: Message) => unknown;
  /**
   * Effect of an update: `replace`, or `if-given`, where an empty or null value keeps the stored
   * one. Absent: none.
   */
  readonly update?: "replace" | "if-given";
}

type Columns<Message> = Readonly<Record<string, StoredColumn<Message>>>;

/** Value of a column as read from the database. */
interface ColumnValues extends Record<ColumnType, unknown> {
  readonly text: string;
  readonly int4: number;
  readonly int8: bigint;
  readonly timestamp: Date;
  readonly duration: bigint;
  readonly bytes: Uint8Array | null;
}

/** Row of the stored columns. */
export type RowOf<Table extends Columns<never>> = {
  readonly [Name in keyof Table as Table[Name] extends { readonly value: unknown } ? Name : never]: ColumnValues[Table[Name]["type"]];
};

/** Returns the names of the stored columns, for a SELECT. */
export function storedNames(columns: Columns<never>): string {
  return stored(columns)
    .map(([name]) => name)
    .join(", ");
}

/** Returns a statement that inserts the message unless its row exists. */
export function insertStatement<Message>(table: string, columns: Columns<Message>, message: Message, now: Date): Query {
  const entries = stored(columns);
  const names = [...entries.map(([name]) => name), "created_at", "updated_at"];
  const parameters = [...names.keys()].map((index) => `$${Math.min(index, entries.length) + 1}`);
  return {
    text: `INSERT INTO ${table} (${names.join(", ")}) VALUES (${parameters.join(", ")}) ON CONFLICT DO NOTHING`,
    values: [...entries.map(([, { value }]) => value?.(message)), now],
  };
}

/** Returns a statement that updates the row of the message with this key. */
export function updateStatement<Message>(
  table: string,
  columns: Columns<Message>,
  { key, message, now }: { readonly key: string; readonly message: Message; readonly now: Date },
): Query {
  const entries = stored(columns).filter(([name, { update }]) => name === key || update !== undefined);
  const place = new Map(entries.map(([name], index) => [name, `$${index + 1}`]));
  const changes = entries.flatMap(([name, column]) => (name === key ? [] : [`${name} = ${updated(name, column, place.get(name) ?? "")}`]));
  return {
    text: `UPDATE ${table} SET ${changes.join(", ")}, updated_at = $${entries.length + 1} WHERE ${key} = ${place.get(key)}`,
    values: [...entries.map(([, { value }]) => value?.(message)), now],
  };
}

function updated(name: string, { type, update }: Pick<StoredColumn<never>, "type" | "update">, parameter: string): string {
  if (update === "replace") return parameter;
  return `COALESCE(${type === "text" ? `NULLIF(${parameter}, '')` : parameter}, ${name})`;
}

function stored<Message>(columns: Columns<Message>): [string, StoredColumn<Message>][] {
  return Object.entries(columns).filter(([, { value }]) => value !== undefined);
}
