import type { Queryable } from "@flyte-ts/postgres";
import type { ColumnType } from "../platform/list-query/column-type.js";
import { type Column, type ColumnTable, columnSql, type ListEntity } from "../platform/list-query/entity.js";
import type { ListPlan, ListRequest } from "../platform/list-query/plan.js";

/** A list of which every filter and order is tested. */
export interface Listed {
  readonly name: string;
  readonly entity: ListEntity;
  /** Selected columns. */
  readonly select: string;
  /** The request without filters and order. */
  readonly request: Pick<ListRequest, "equal" | "where" | "constants">;
  readonly plan: (request: ListRequest) => Promise<ListPlan>;
  /** True for combinations that docs/reference/list-queries.md documents as slow. */
  readonly slow?: (combination: Combination) => boolean;
}

export interface Combination {
  readonly filters: string;
  readonly sort: readonly [key: string, direction: 0 | 1] | undefined;
}

/** Common requests of clients. */
const USUAL: readonly Combination["sort"][] = [undefined, ["created_at", 0], ["created_at", 1]];

const functionsOf: Readonly<Record<ColumnType, readonly string[]>> = {
  text: ["eq", "ne", "gt", "lte", "contains", "not_like", "value_in", "value_not_in"],
  int4: ["eq", "ne", "gte", "lt", "value_in", "value_not_in"],
  int8: ["eq", "ne", "gte", "lt", "value_in", "value_not_in"],
  timestamp: ["eq", "gte", "lt"],
  duration: ["eq", "gte", "lt"],
  bytes: [],
};

const onlyEqual: typeof functionsOf = {
  text: ["eq"],
  int4: ["eq"],
  int8: ["eq"],
  timestamp: ["gte"],
  duration: ["gte"],
  bytes: [],
};

/**
 * Returns every filter of a list, with values that many, some, few and no rows have. For columns of
 * joined tables only `eq`, unless every function is requested.
 */
export async function filtersOf(db: Queryable, { entity }: Listed, every: boolean): Promise<readonly string[]> {
  const tables = [
    { table: entity as ColumnTable, prefix: "", functions: functionsOf },
    ...Object.entries(entity.related).map(([prefix, table]) => ({
      table: table as ColumnTable,
      prefix: `${prefix}.`,
      functions: every || entity.table === "executions" ? functionsOf : onlyEqual,
    })),
  ];
  const filters: string[] = [];
  for (const { table, prefix, functions } of tables) {
    for (const [name, column] of Object.entries(table.columns)) {
      if (column.unindexed?.of === "all" || column.type === "bytes") continue;
      const values = await valuesOf(db, { table, name, column });
      const { type } = column;
      filters.push(...functions[type].flatMap((fn) => values.map((value) => `${fn}(${prefix}${name},${given(fn, value, type)})`)));
    }
  }
  return filters;
}

/**
 * Returns the orders of a list in both directions, without those that are documented as unindexed.
 */
function ordersOf({ entity }: Listed): readonly Combination["sort"][] {
  const keys = Object.entries(entity.columns).filter(([, column]) => column.unindexed === undefined && column.type !== "bytes");
  return keys.flatMap(([key]) => [[key, 0] as const, [key, 1] as const]);
}

/** Combines every filter with one common order and one other, or with every order. */
export function combinationsOf({ entity, ...listed }: Listed, filters: readonly string[], every: boolean): readonly Combination[] {
  const orders = ordersOf({ entity, ...listed });
  const usual = USUAL.filter((sort) => sort === undefined || Object.hasOwn(entity.columns, sort[0]));
  const both = (number: number) => [usual[number % usual.length], orders[number % orders.length]];
  return [
    ...orders.map((sort) => ({ filters: "", sort })),
    ...filters.flatMap((text, number) => (every ? [...usual, ...orders] : both(number)).map((sort) => ({ filters: text, sort }))),
  ];
}

function given(fn: string, value: string, type: ColumnType): string {
  if (fn === "value_in" || fn === "value_not_in") return type === "text" ? `${value};${value}x` : `${value};${value}`;
  // A trigram index supports parts of three characters and more.
  if (fn === "contains") return value.slice(Math.min(Math.floor(value.length / 3), Math.max(0, value.length - 3)));
  return fn === "not_like" ? `${value.slice(0, Math.ceil(value.length / 2))}%` : value;
}

/** Returns the percentage of a table that is about ten thousand rows. */
async function sampled(db: Queryable, table: string): Promise<number> {
  const { rows } = await db.query<{ rows: number }>({
    text: "SELECT reltuples AS rows FROM pg_class WHERE oid = $1::regclass",
    values: [table],
  });
  return Math.min(100, 1_000_000 / Math.max(1, rows[0]?.rows ?? 1));
}

interface Place {
  readonly table: ColumnTable;
  readonly name: string;
  readonly column: Column;
}

/** Values by the text of their query: lists share columns. */
const found = new Map<string, readonly string[]>();

/**
 * Returns the most frequent value, one of medium frequency, the rarest, and one without rows; for
 * numbers and times the minimum, the maximum and the median.
 */
async function valuesOf(db: Queryable, { table, name, column: { type } }: Place): Promise<readonly string[]> {
  const sql = columnSql(table, name);
  const from = /^[a-z_]+\.[a-z_]+$/.test(sql) ? (sql.split(".")[0] ?? table.table) : table.table;
  const sample = `(SELECT ${sql} AS v FROM ${from} TABLESAMPLE SYSTEM (${await sampled(db, from)}) REPEATABLE (1) LIMIT 10000) AS s WHERE v IS NOT NULL`;
  const text =
    type === "text" || type === "int4"
      ? `WITH n AS (SELECT v::text, count(*) AS c FROM ${sample} GROUP BY 1),
          o AS (SELECT v, row_number() OVER (ORDER BY c DESC, v) AS p, count(*) OVER () AS size FROM n WHERE v <> '')
        SELECT v FROM o WHERE p IN (1, 1 + size / 8, size)`
      : `SELECT DISTINCT to_jsonb(v) #>> '{}' AS v
        FROM unnest((SELECT percentile_disc(ARRAY[0.0002, 0.5, 0.9998]) WITHIN GROUP (ORDER BY v) FROM ${sample})) AS v WHERE v IS NOT NULL`;
  const known = found.get(text) ?? (await db.query<{ v: string }>({ text })).rows.map(({ v }) => v);
  found.set(text, known);
  switch (type) {
    case "text":
      return [...known, "nosuch"];
    case "int4":
    case "int8":
      return [...known, "999999999"];
    case "timestamp":
      return [...known.map((v) => v.replace("+00:00", "Z")), "2001-01-01T00:00:00Z", "2101-01-01T00:00:00Z"];
    case "duration":
      return [...known.map((v) => `${Number(v) / 1e9}`), "999h"];
    case "bytes":
      return [];
  }
}
