import { bigintArray, booleanArray, byteaArray, integerArray, type Query, textArray } from "@flyte-ts/postgres";

/** A column that a multi-row statement writes. */
export type ColumnSpec<Row> = ColumnWrite & ValuesOf<Row>;

interface ColumnWrite {
  readonly name: string;
  /**
   * Update of an existing row: `set` replaces the value, `keep` replaces it unless the new value is
   * null, `first` replaces only null, `key` identifies the row.
   */
  readonly update: "set" | "keep" | "first" | "key";
}

/** Value by SQL type. */
type ValuesOf<Row> =
  | { readonly type: "text"; readonly value: (row: Row) => string | null }
  | { readonly type: "bytea"; readonly value: (row: Row) => Uint8Array | null }
  | { readonly type: "bigint"; readonly value: (row: Row) => bigint | number | null }
  | { readonly type: "integer"; readonly value: (row: Row) => number }
  | { readonly type: "boolean"; readonly value: (row: Row) => boolean }
  /** A text that the database parses. */
  | { readonly type: "timestamptz"; readonly value: (row: Row) => string | null };

/**
 * Statement that writes rows with one array per column, so that its text does not depend on their
 * number. It inserts a row, or updates one whose stored revision precedes the given one. It returns
 * the written rows; the others were changed concurrently. All writers must sort rows the same way,
 * to prevent deadlocks.
 */
export function upsert<Row>(table: string, columns: readonly ColumnSpec<Row>[], returning: string): (rows: readonly Row[]) => Query {
  const names = columns.map(({ name }) => name).join(", ");
  const keys = columns.filter(({ update }) => update === "key").map(({ name }) => name);
  const text =
    `INSERT INTO ${table} (${names}) SELECT * FROM unnest(${parameters(columns)})` +
    ` ON CONFLICT (${keys.join(", ")}) DO UPDATE SET ${assignments(columns, table, "EXCLUDED")}, updated_at = clock_timestamp()` +
    ` WHERE ${table}.revision = EXCLUDED.revision - 1 RETURNING ${returning}`;
  return (rows) => ({ name: `upsert-${table}`, text, values: columns.map((column) => arrayOf(column, rows)) });
}

/** Like {@link upsert} for existing rows. */
export function update<Row>(table: string, columns: readonly ColumnSpec<Row>[], returning: string): (rows: readonly Row[]) => Query {
  const names = columns.map(({ name }) => name).join(", ");
  const key = columns.filter((column) => column.update === "key").map(({ name }) => `${table}.${name} = given.${name}`);
  const text =
    `UPDATE ${table} SET ${assignments(columns, table, "given")}, updated_at = clock_timestamp()` +
    ` FROM unnest(${parameters(columns)}) AS given (${names})` +
    ` WHERE ${key.join(" AND ")} AND ${table}.revision = given.revision - 1 RETURNING ${returning}`;
  return (rows) => ({ name: `update-${table}`, text, values: columns.map((column) => arrayOf(column, rows)) });
}

function arrayOf<Row>(column: ColumnSpec<Row>, rows: readonly Row[]): unknown {
  switch (column.type) {
    case "text":
      return textArray(rows.map(column.value));
    case "bytea":
      return byteaArray(rows.map(column.value));
    case "bigint":
      return bigintArray(rows.map(column.value));
    case "integer":
      return integerArray(rows.map(column.value));
    case "boolean":
      return booleanArray(rows.map(column.value));
    case "timestamptz":
      return rows.map(column.value);
    default:
      return column satisfies never;
  }
}

function parameters(columns: readonly { readonly type: string }[]): string {
  return columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(", ");
}

function assignments<Row>(columns: readonly ColumnSpec<Row>[], table: string, source: string): string {
  return columns.flatMap((column) => (column.update === "key" ? [] : [`${column.name} = ${updated(column, table, source)}`])).join(", ");
}

function updated<Row>({ name, update: rule }: ColumnSpec<Row>, table: string, source: string): string {
  const [given, own] = [`${source}.${name}`, `${table}.${name}`];
  switch (rule) {
    case "keep":
      return `COALESCE(${given}, ${own})`;
    case "first":
      return `COALESCE(${own}, ${given})`;
    case "set":
    case "key":
      return given;
    default:
      return rule satisfies never;
  }
}
