import type { Queryable } from "@flyte-ts/postgres";
import { allNumbered, type Condition } from "./condition.js";

/** Of so many rows it is quicker to read all and sort them than to go by an order until a page is full. */
const MAX_FEW = 10_000;

/** Rows of the listed table that hold one of some numbers. */
export interface Numbered {
  /** Column of the listed table, in SQL, that holds the number. */
  readonly column: string;
  readonly numbers: KnownNumbers | FoundNumbers;
}

/** Numbers that were asked for before; each once. */
export interface KnownNumbers {
  readonly from: "before";
  readonly count: number;
  /** As the database writes an array of them: they go back as they came. */
  readonly text: string;
}

/** Numbers that stand in another table. The listed table has one row of each. */
export interface FoundNumbers {
  readonly from: "table";
  readonly table: string;
  /** Column that holds the number. */
  readonly number: string;
  readonly conditions: readonly Condition[];
}

/**
 * The few rows as a table to list from. The database takes numbers that it does not know for those of many rows or few as
 * it happens, and would go by an order through all rows for what it takes for many. Nothing moves over an OFFSET.
 */
export function fewRows(table: string, { column, numbers }: Numbered, values: unknown[]): string {
  switch (numbers.from) {
    case "before":
      return `(SELECT few.* FROM ${told(numbers, values)}
        CROSS JOIN LATERAL (SELECT * FROM ${table} WHERE ${column} = told.number OFFSET 0) AS few) AS ${table}`;
    case "table":
      // As an array they are looked up in their order: rows that stand together are read together.
      return `(SELECT * FROM ${table} WHERE ${column} = ANY(ARRAY(${found(numbers, values)} ORDER BY ${numbers.number})) OFFSET 0) AS ${table}`;
  }
}

/** How many rows they are; undefined where they are not few. */
export async function countFew(db: Queryable, table: string, few: Numbered): Promise<number | undefined> {
  const values: unknown[] = [];
  const text = `SELECT count(*)::int AS rows FROM (${selectOne(table, few, values)} LIMIT ${MAX_FEW + 1}) AS counted`;
  const counted = (await db.query<{ rows: number }>({ text, values })).rows[0]?.rows ?? 0;
  return counted > MAX_FEW ? undefined : counted;
}

/** Something for each of the rows. */
function selectOne(table: string, { column, numbers }: Numbered, values: unknown[]): string {
  switch (numbers.from) {
    case "before":
      return `SELECT 1 FROM ${told(numbers, values)}
        CROSS JOIN LATERAL (SELECT 1 FROM ${table} WHERE ${column} = told.number LIMIT ${MAX_FEW + 1}) AS few`;
    case "table":
      return found(numbers, values);
  }
}

function told({ text }: KnownNumbers, values: unknown[]): string {
  values.push(text);
  return `unnest($${values.length}::int8[]) AS told (number)`;
}

function found({ table, number, conditions }: FoundNumbers, values: unknown[]): string {
  return `SELECT ${number} FROM ${table} WHERE ${allNumbered(conditions, values)}`;
}
