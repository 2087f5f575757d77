import { bigintArray, booleanArray, byteaArray, integerArray, type Query, textArray } from "@flyte-ts/postgres";

/** One column of a table that many rows are written to at once. */
export type WrittenColumn<Row> = Written & ValuesOf<Row>;

interface Written {
  readonly name: string;
  /** What an existing row gets: `set` the new value; `keep` its own where the new one is null; `first` its own unless that is null; `key`: it identifies the row. */
  readonly update: "set" | "keep" | "first" | "key";
}

/** By type in SQL. */
type ValuesOf<Row> =
  | { readonly type: "text"; readonly value: (row: Row) => string | null }
  | { readonly type: "bytea"; readonly value: (row: Row) => Uint8Array | null }
  | { readonly type: "bigint"; readonly value: (row: Row) => bigint | number | null }
  | { readonly type: "integer"; readonly value: (row: Row) => number }
  | { readonly type: "boolean"; readonly value: (row: Row) => boolean }
  /** As the database reads a text. */
  | { readonly type: "timestamptz"; readonly value: (row: Row) => string | null };

/**
 * Statement that writes rows with one array for each column, so that its text does not
 * depend on their number. A row is inserted, or updated when its stored revision is the
 * one before the given; what it returns has been written, the rest was changed by someone
 * else meanwhile. Rows must come in an order common to all writers, or two may deadlock.
 */
export function upsert<Row>(table: string, columns: readonly WrittenColumn<Row>[], returning: string): (rows: readonly Row[]) => Query {
  const names = columns.map(({ name }) => name).join(", ");
  const keys = columns.filter(({ update }) => update === "key").map(({ name }) => name);
  const text =
    `INSERT INTO ${table} (${names}) SELECT * FROM unnest(${parameters(columns)})` +
    ` ON CONFLICT (${keys.join(", ")}) DO UPDATE SET ${assignments(columns, table, "EXCLUDED")}, updated_at = clock_timestamp()` +
    ` WHERE ${table}.revision = EXCLUDED.revision - 1 RETURNING ${returning}`;
  return (rows) => ({ name: `upsert-${table}`, text, values: columns.map((column) => arrayOf(column, rows)) });
}

/** Like {@link upsert} for rows that exist. */
export function update<Row>(table: string, columns: readonly WrittenColumn<Row>[], returning: string): (rows: readonly Row[]) => Query {
  const names = columns.map(({ name }) => name).join(", ");
  const key = columns.filter((column) => column.update === "key").map(({ name }) => `${table}.${name} = given.${name}`);
  const text =
    `UPDATE ${table} SET ${assignments(columns, table, "given")}, updated_at = clock_timestamp()` +
    ` FROM unnest(${parameters(columns)}) AS given (${names})` +
    ` WHERE ${key.join(" AND ")} AND ${table}.revision = given.revision - 1 RETURNING ${returning}`;
  return (rows) => ({ name: `update-${table}`, text, values: columns.map((column) => arrayOf(column, rows)) });
}

function arrayOf<Row>(column: WrittenColumn<Row>, rows: readonly Row[]): unknown {
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

function assignments<Row>(columns: readonly WrittenColumn<Row>[], table: string, source: string): string {
  return columns.flatMap((column) => (column.update === "key" ? [] : [`${column.name} = ${updated(column, table, source)}`])).join(", ");
}

function updated<Row>({ name, update: rule }: WrittenColumn<Row>, table: string, source: string): string {
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
