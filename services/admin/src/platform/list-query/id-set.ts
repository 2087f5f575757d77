import type { Queryable } from "@flyte-ts/postgres";
import { bindAll, type Condition } from "./condition.js";

/**
 * Number of rows up to which reading and sorting all is faster than scanning an index in order
 * until a page is full.
 */
const MAX_SORTED_ROWS = 10_000;

/** Rows of the listed table with one of a set of ids. */
export interface IdFilter {
  /** Column of the listed table, in SQL, that has the id. */
  readonly column: string;
  readonly ids: PrefetchedIds | IdSubquery;
}

/** Distinct ids from an earlier query. */
export interface PrefetchedIds {
  readonly from: "before";
  readonly count: number;
  /** PostgreSQL array literal, passed back unchanged. */
  readonly text: string;
}

/** Ids from another table. The listed table has one row for each. */
export interface IdSubquery {
  readonly from: "table";
  readonly table: string;
  /** Column with the id. */
  readonly idColumn: string;
  readonly conditions: readonly Condition[];
}

/**
 * Returns a FROM clause over a known id set. The planner misestimates the number of unknown ids,
 * and for many would scan all rows in order. OFFSET 0 is an optimization fence: it forces the id
 * lookup before the sort.
 */
export function fromIdSet(table: string, { column, ids }: IdFilter, values: unknown[]): string {
  switch (ids.from) {
    case "before":
      return `(SELECT few.* FROM ${unnestIds(ids, values)}
        CROSS JOIN LATERAL (SELECT * FROM ${table} WHERE ${column} = given_ids.number OFFSET 0) AS few) AS ${table}`;
    case "table":
      // An array is looked up in sorted order, so that adjacent rows are read together.
      return `(SELECT * FROM ${table} WHERE ${column} = ANY(ARRAY(${selectIds(ids, values)} ORDER BY ${ids.idColumn})) OFFSET 0) AS ${table}`;
  }
}

/** Counts the rows; undefined above the limit. */
export async function countMatches(db: Queryable, table: string, filter: IdFilter): Promise<number | undefined> {
  const values: unknown[] = [];
  const text = `SELECT count(*)::int AS rows FROM (${selectOne(table, filter, values)} LIMIT ${MAX_SORTED_ROWS + 1}) AS counted`;
  const counted = (await db.query<{ rows: number }>({ text, values })).rows[0]?.rows ?? 0;
  return counted > MAX_SORTED_ROWS ? undefined : counted;
}

/** Selects one constant per row. */
function selectOne(table: string, { column, ids }: IdFilter, values: unknown[]): string {
  switch (ids.from) {
    case "before":
      return `SELECT 1 FROM ${unnestIds(ids, values)}
        CROSS JOIN LATERAL (SELECT 1 FROM ${table} WHERE ${column} = given_ids.number LIMIT ${MAX_SORTED_ROWS + 1}) AS few`;
    case "table":
      return selectIds(ids, values);
  }
}

function unnestIds({ text }: PrefetchedIds, values: unknown[]): string {
  values.push(text);
  return `unnest($${values.length}::int8[]) AS given_ids (number)`;
}

function selectIds({ table, idColumn, conditions }: IdSubquery, values: unknown[]): string {
  return `SELECT ${idColumn} FROM ${table} WHERE ${bindAll(conditions, values)}`;
}
