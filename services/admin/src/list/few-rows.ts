import type { Queryable } from "@flyte-ts/postgres";
import { type Condition, numbered } from "./condition.js";
import { columnSql, type EntityDescription } from "./entity.js";

/** Of so many rows it is quicker to read all and sort them than to go by an order until a page is full. */
const MAX_FEW = 10_000;

/** Rows of the listed table that hold one of some numbers. */
export interface Numbered {
  /** Column of the listed table, in SQL, that holds the number. */
  readonly column: string;
  /** The numbers: SQL of an expression, what it is selected from, and which of them. */
  readonly number: string;
  readonly from: Condition;
  readonly conditions: readonly Condition[];
}

/**
 * The few rows as a table to list from. The database takes numbers that it does not know for those of many rows or few as
 * it happens, and would go by an order through all rows for what it takes for many. Nothing moves over an OFFSET.
 */
export function fewRows(table: string, few: Numbered, values: unknown[]): string {
  return `(SELECT few.* FROM (${selectNumbers("DISTINCT ", few, values)}) AS told
    CROSS JOIN LATERAL (SELECT * FROM ${table} WHERE ${few.column} = told.number OFFSET 0) AS few) AS ${table}`;
}

/** How many rows they are; undefined where they are not few. */
export async function countFew(db: Queryable, entity: EntityDescription, few: Numbered): Promise<number | undefined> {
  const values: unknown[] = [];
  const numbers = selectNumbers("", few, values);
  // Of a number that is the row's own there is one row.
  const rows =
    few.column === columnSql(entity, entity.key)
      ? numbers
      : `SELECT 1 FROM (${numbers}) AS told
        CROSS JOIN LATERAL (SELECT 1 FROM ${entity.table} WHERE ${few.column} = told.number LIMIT ${MAX_FEW + 1}) AS few`;
  const text = `SELECT count(*)::int AS rows FROM (${rows} LIMIT ${MAX_FEW + 1}) AS counted`;
  const counted = (await db.query<{ rows: number }>({ text, values })).rows[0]?.rows ?? 0;
  return counted > MAX_FEW ? undefined : counted;
}

function selectNumbers(distinct: "DISTINCT " | "", { number, from, conditions }: Numbered, values: unknown[]): string {
  const source = numbered(from, values);
  const where = conditions.map((condition) => ` AND ${numbered(condition, values)}`).join("");
  return `SELECT ${distinct}${number} AS number FROM ${source} WHERE true${where}`;
}
