import { createHash } from "node:crypto";
import type { Sort } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { Sort_Direction } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { invalidArgument } from "../invalid.js";
import { columnTypes } from "./column-type.js";
import { type ColumnTable, columnSql, type EntityDescription, type EntityPrefix, entityPrefixes, type RelatedTable } from "./entity.js";
import { type FilterTerm, parseFilterTerms } from "./filter-term.js";
import { parseToken } from "./token.js";

/** Rows of one page; a larger limit is answered with this many and a token. */
export const MAX_PAGE = 10_000;

export interface ListRequest {
  /** Name of the RPC, for messages. */
  readonly rpc: string;
  readonly filters: string;
  readonly limit: number;
  readonly token: string;
  readonly sortBy?: Sort | undefined;
  /** Equality conditions of the request itself; empty strings and undefined say nothing. */
  readonly equal?: Readonly<Record<string, string | number | bigint | undefined>>;
  /** Further conditions: SQL over the entity's table with `$$` where the value goes. */
  readonly where?: readonly Condition[];
  /** Whether limit 0 asks for all rows instead of being refused. */
  readonly zeroMeansAll?: boolean;
}

export interface Condition {
  readonly sql: string;
  readonly value?: unknown;
}

export interface ListPlan {
  readonly offset: number;
  readonly limit: number;
  /** `JOIN …` clauses, ready for use after `FROM table`. */
  readonly joins: string;
  readonly where: string;
  readonly orderBy: string;
  readonly values: readonly unknown[];
  /** Fields named by the client's filters, as `prefix.column`. */
  readonly filtered: ReadonlySet<string>;
}

/** A map: the name of a function comes from clients, and an object has more names than its own. */
const operators: ReadonlyMap<string, string> = new Map([
  ["eq", "="],
  ["ne", "<>"],
  ["gt", ">"],
  ["gte", ">="],
  ["lt", "<"],
  ["lte", "<="],
]);

interface ReadTerm {
  readonly prefix: EntityPrefix;
  readonly name: string;
  readonly condition: Condition;
  readonly related: RelatedTable | undefined;
}

/**
 * Turns a list request into SQL. Names of columns and tables come from the
 * description alone; values travel as parameters.
 *
 * @throws RpcError INVALID_ARGUMENT naming the filter, column, sort key, limit or token that is wrong.
 */
export function planList(entity: EntityDescription, request: ListRequest): ListPlan {
  if (request.limit === 0 && request.zeroMeansAll !== true) throw invalidArgument("invalid value for limit: it must be greater than 0");
  const offset = parseToken(request.token);
  if (offset === undefined) throw invalidArgument(`invalid pagination token ${request.token} for ${request.rpc}: it must be a row offset`);
  const terms = readTerms(entity, request.filters);
  const orderBy = order(entity, request.sortBy);
  const conditions: Condition[] = [];
  for (const [name, value] of Object.entries(request.equal ?? {})) {
    if (value === undefined || value === "") continue;
    if (typeof value === "string" && value.includes("\0"))
      throw invalidArgument(`invalid value for ${name}: NUL characters are not allowed`);
    conditions.push({ sql: `${columnSql(entity, name)} = $$`, value });
  }
  conditions.push(...(request.where ?? []));
  conditions.push(...terms.filter((term) => term.related?.kind !== "exists").map((term) => term.condition));
  const values: unknown[] = [];
  const clauses = conditions.map((condition) => numbered(condition, values));
  clauses.push(...existsClauses(terms, values));
  return {
    offset,
    limit: request.limit === 0 ? Number.MAX_SAFE_INTEGER : Math.min(request.limit, MAX_PAGE),
    joins: joins(terms),
    where: clauses.length === 0 ? "true" : clauses.join(" AND "),
    orderBy,
    values,
    filtered: new Set(terms.map((term) => `${term.prefix}.${term.name}`)),
  };
}

interface Page {
  readonly text: string;
  readonly values: unknown[];
  /** Of a prepared statement. */
  readonly name?: string;
}

/** The page's SELECT. `select` names columns with their table. */
export function selectPage(entity: EntityDescription, plan: ListPlan, select: string): Page {
  const count = plan.values.length;
  return {
    text: `${unlimited(entity, plan, select)} LIMIT $${count + 1} OFFSET $${count + 2}`,
    values: [...plan.values, plan.limit, plan.offset],
  };
}

/** Sizes of pages that clients ask for by themselves: there must not be many statements. */
const USUAL_LIMITS: ReadonlySet<number> = new Set([1, 10, 20, 25, 50, 100, 500, 1_000]);

/**
 * The same as a prepared statement where it is the first page and of a usual size: planning it takes as long as reading
 * it. For lists without filters of which an index begins with the columns of the equality conditions and goes on with
 * those of the order, so that one plan is the best for any values.
 */
export function preparedPage(entity: EntityDescription, plan: ListPlan, select: string): Page {
  if (plan.offset > 0 || !USUAL_LIMITS.has(plan.limit)) return selectPage(entity, plan, select);
  // Without its size the planner would not know that the page is a small part.
  const text = `${unlimited(entity, plan, select)} LIMIT ${plan.limit}`;
  return { text, values: [...plan.values], name: `${entity.table}-${createHash("sha1").update(text).digest("hex")}` };
}

function unlimited(entity: EntityDescription, plan: ListPlan, select: string): string {
  return `SELECT ${select} FROM ${entity.table}${plan.joins} WHERE ${plan.where} ORDER BY ${plan.orderBy}`;
}

/** Gives the condition its parameter's number. */
function numbered(condition: Condition, values: unknown[]): string {
  if (!condition.sql.includes("$$")) return condition.sql;
  values.push(condition.value);
  return condition.sql.replaceAll("$$", () => `$${values.length}`);
}

function order(entity: EntityDescription, sort: Sort | undefined): string {
  const key = columnSql(entity, entity.key);
  if (sort === undefined) return key;
  if (!Object.hasOwn(entity.columns, sort.key)) throw invalidArgument(`invalid sort key '${sort.key}'`);
  const directions: Readonly<Record<number, string>> = { [Sort_Direction.ASCENDING]: "ASC", [Sort_Direction.DESCENDING]: "DESC" };
  const direction = directions[sort.direction];
  if (direction === undefined) throw invalidArgument(`invalid sort direction ${sort.direction}: it must be ASCENDING or DESCENDING`);
  const column = columnSql(entity, sort.key);
  return column === key ? `${key} ${direction}` : `${column} ${direction}, ${key} ${direction}`;
}

function readTerms(entity: EntityDescription, filters: string): readonly ReadTerm[] {
  if (filters === "") return [];
  const terms = parseFilterTerms(filters);
  if (terms === undefined) throw invalidArgument("invalid value for filters: terms must be function(field,value) joined with +");
  return terms.map((term) => readTerm(entity, term));
}

function readTerm(entity: EntityDescription, term: FilterTerm): ReadTerm {
  const prefix = entityPrefixes.find((p) => term.field.startsWith(`${p}.`)) ?? entity.prefix;
  const name = term.field.startsWith(`${prefix}.`) ? term.field.slice(prefix.length + 1) : term.field;
  const related = prefix === entity.prefix ? undefined : entity.related[prefix];
  if (prefix !== entity.prefix && related === undefined) {
    throw invalidArgument(`invalid value for filters: '${prefix}' entity is not allowed in filters of ${entity.prefix} lists`);
  }
  const table: ColumnTable = related ?? entity;
  if (!Object.hasOwn(table.columns, name)) throw invalidArgument(`invalid value for filters: '${prefix}.${name}' is not a column`);
  return { prefix, name, condition: comparison(table, name, term), related };
}

function comparison(table: ColumnTable, name: string, term: FilterTerm): Condition {
  const sql = columnSql(table, name);
  const { type } = table.columns[name] ?? { type: "text" as const };
  const rule = columnTypes[type];
  const parsed = term.values.map((text) => {
    const value = rule.parse(text);
    if (value === undefined) {
      throw invalidArgument(`invalid value for filters: ${term.field} expects ${rule.expects}, not ${JSON.stringify(text)}`);
    }
    return value;
  });
  const repeated = term.function === "value_in" || term.function === "value_not_in";
  if (repeated) {
    return { sql: `${sql} ${term.function === "value_in" ? "= ANY" : "<> ALL"}($$::${rule.cast}[])`, value: parsed };
  }
  const operator = operators.get(term.function);
  const like = term.function === "contains" || term.function === "not_like";
  if (operator === undefined && !like) throw invalidArgument(`invalid value for filters: unrecognized filter function: ${term.function}`);
  if (parsed.length !== 1) throw invalidArgument(`invalid value for filters: ${term.function}(${term.field}) takes one value`);
  if (operator !== undefined) return { sql: `${sql} ${operator} $$::${rule.cast}`, value: parsed[0] };
  if (type !== "text") throw invalidArgument(`invalid value for filters: ${term.function} needs a column of text, ${term.field} is none`);
  if (term.function === "contains") return { sql: `${sql} LIKE $$`, value: `%${parsed[0]}%` };
  if (/(^|[^\\])(\\\\)*\\$/.test(parsed[0] ?? "")) {
    throw invalidArgument(`invalid value for filters: ${term.field}: a pattern must not end in a single \\`);
  }
  return { sql: `${sql} NOT LIKE $$`, value: parsed[0] };
}

function joins(terms: readonly ReadTerm[]): string {
  const tables = new Map<string, string>();
  for (const { related } of terms) if (related?.kind === "join") tables.set(related.table, related.on);
  return [...tables].map(([table, on]) => ` LEFT JOIN ${table} ON ${on}`).join("");
}

function existsClauses(terms: readonly ReadTerm[], values: unknown[]): string[] {
  const groups = new Map<string, { on: string; conditions: Condition[] }>();
  for (const { related, condition } of terms) {
    if (related?.kind !== "exists") continue;
    const group = groups.get(related.table) ?? { on: related.on, conditions: [] };
    group.conditions.push(condition);
    groups.set(related.table, group);
  }
  return [...groups].map(([table, { on, conditions }]) => {
    const inner = conditions.map((condition) => numbered(condition, values)).join(" AND ");
    return `EXISTS (SELECT 1 FROM ${table} WHERE ${on} AND ${inner})`;
  });
}
