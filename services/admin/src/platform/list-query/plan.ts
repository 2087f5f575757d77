import { createHash } from "node:crypto";
import type { Sort } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { Sort_Direction } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { invalidArgument } from "../rpc-errors.js";
import { type ColumnType, columnTypes } from "./column-type.js";
import {
  type Column,
  type ColumnTable,
  columnSql,
  type ListEntity,
  type EntityPrefix,
  entityPrefixes,
  type RelatedTable,
} from "./entity.js";
import { bindAll, type Condition, bindParameters } from "./condition.js";
import { fromIdSet, type IdFilter } from "./id-set.js";
import { type FilterTerm, parseFilterTerms } from "./filter-term.js";
import { parseToken } from "./token.js";

/** Maximum page size; a larger limit returns this many rows and a token. */
export const MAX_PAGE = 10_000;

export interface ListRequest {
  /** Name of the RPC, for messages. */
  readonly rpc: string;
  readonly filters: string;
  readonly limit: number;
  readonly token: string;
  readonly sortBy?: Sort | undefined;
  /** Equality conditions of the request itself; empty strings and undefined are ignored. */
  readonly equal?: Readonly<Record<string, string | number | bigint | undefined>>;
  /** Columns of which all rows are known to have this value. */
  readonly constants?: Readonly<Record<string, string | number | bigint>>;
  /** Further conditions: SQL over the entity's table, with `$$` for the value. */
  readonly where?: readonly Condition[];
  /** Superset of the listed rows, if few; conditions that it implies may be omitted. */
  readonly among?: IdFilter | undefined;
  /** True: limit 0 requests all rows instead of failing. */
  readonly zeroMeansAll?: boolean;
}

export interface ListPlan {
  readonly offset: number;
  readonly limit: number;
  /** Operand of `FROM`, before joins. */
  readonly from: string;
  /** `JOIN …` clauses that follow it. */
  readonly joins: string;
  readonly where: string;
  readonly orderBy: string;
  readonly values: readonly unknown[];
}

/** A Map, since clients send the function names, and an object has inherited keys. */
const operators: ReadonlyMap<string, string> = new Map([
  ["eq", "="],
  ["ne", "<>"],
  ["gt", ">"],
  ["gte", ">="],
  ["lt", "<"],
  ["lte", "<="],
]);

/** A validated term of a filter. */
export interface ResolvedFilter {
  readonly prefix: EntityPrefix;
  readonly name: string;
  readonly function: string;
  /** As sent by the client. */
  readonly values: readonly string[];
  readonly column: Column;
  readonly related: RelatedTable | undefined;
  /** Applies the term to an expression of the column's type. */
  readonly toSql: (sql: string) => Condition;
  /** The term applied to the column. */
  readonly condition: Condition;
}

/**
 * Translates a list request to SQL. Names of columns and tables come from the description alone;
 * values are passed as parameters.
 *
 * @throws RpcError INVALID_ARGUMENT naming the filter, column, sort key, limit or token that is
 *   wrong.
 */
export function planList(entity: ListEntity, request: ListRequest): ListPlan {
  return planTerms(entity, request, resolveFilters(entity, request));
}

/** {@link planList} with parsed terms. */
export function planTerms(entity: ListEntity, request: ListRequest, terms: readonly ResolvedFilter[]): ListPlan {
  if (request.limit === 0 && request.zeroMeansAll !== true) throw invalidArgument("invalid value for limit: it must be greater than 0");
  const offset = parseToken(request.token);
  if (offset === undefined) throw invalidArgument(`invalid pagination token ${request.token} for ${request.rpc}: it must be a row offset`);
  const orderBy = order(entity, request);
  const conditions: Condition[] = [];
  for (const [name, value] of equalities(request)) {
    if (typeof value === "string" && value.includes("\0"))
      throw invalidArgument(`invalid value for ${name}: NUL characters are not allowed`);
    conditions.push({ sql: `${columnSql(entity, name)} = $$`, value });
  }
  conditions.push(...(request.where ?? []), ...implied(terms));
  conditions.push(...terms.filter((term) => term.related?.kind !== "exists").map((term) => term.condition));
  const values: unknown[] = [];
  const from = request.among === undefined ? entity.table : fromIdSet(entity.table, request.among, values);
  const clauses = conditions.map((condition) => bindParameters(condition, values));
  clauses.push(...existsClauses(terms, values));
  return {
    offset,
    limit: request.limit === 0 ? Number.MAX_SAFE_INTEGER : Math.min(request.limit, MAX_PAGE),
    from,
    joins: joins(terms),
    where: clauses.length === 0 ? "true" : clauses.join(" AND "),
    orderBy,
    values,
  };
}

interface Page {
  readonly text: string;
  readonly values: unknown[];
  /** Name of a prepared statement. */
  readonly name?: string;
}

/** Returns the page's SELECT. `select` names columns with their table. */
export function selectPage(plan: ListPlan, select: string): Page {
  const count = plan.values.length;
  return {
    text: `${unlimited(plan, select)} LIMIT $${count + 1} OFFSET $${count + 2}`,
    values: [...plan.values, plan.limit, plan.offset],
  };
}

/** Common page sizes of clients, which bound the number of prepared statements. */
const COMMON_LIMITS: ReadonlySet<number> = new Set([1, 10, 20, 25, 50, 100, 500, 1_000]);

/**
 * {@link selectPage} as a prepared statement for the first page of a common size: planning takes as
 * long as reading. For lists without filters that an index supports, beginning with the columns of
 * the equality conditions and continuing with those of the order, so that one plan is best for any
 * values.
 */
export function selectPagePrepared(plan: ListPlan, select: string): Page {
  if (plan.offset > 0 || !COMMON_LIMITS.has(plan.limit)) return selectPage(plan, select);
  // The limit is in the text: otherwise the planner would not know that the page is small.
  const text = `${unlimited(plan, select)} LIMIT ${plan.limit}`;
  return { text, values: [...plan.values], name: `list-${createHash("sha1").update(text).digest("hex")}` };
}

function unlimited(plan: ListPlan, select: string): string {
  return `SELECT ${select} FROM ${plan.from}${plan.joins} WHERE ${plan.where} ORDER BY ${plan.orderBy}`;
}

function order(entity: ListEntity, request: ListRequest): string {
  const { columns, direction } = orderOf(entity, request);
  return columns.map((name) => `${columnSql(entity, name)}${direction === "" ? "" : ` ${direction}`}`).join(", ");
}

export interface Order {
  readonly columns: readonly string[];
  readonly direction: "ASC" | "DESC" | "";
}

/**
 * Returns the order of a request.
 *
 * @throws RpcError INVALID_ARGUMENT naming the sort key or direction that is wrong.
 */
export function orderOf(entity: ListEntity, { sortBy: sort, ...request }: ListRequest): Order {
  const byDefault = entity.order ?? [entity.key];
  if (sort === undefined) return { columns: byDefault, direction: "" };
  const column = Object.hasOwn(entity.columns, sort.key) ? entity.columns[sort.key] : undefined;
  if (column === undefined) throw invalidArgument(`invalid sort key '${sort.key}'`);
  const directions: Readonly<Record<number, Order["direction"]>> = {
    [Sort_Direction.ASCENDING]: "ASC",
    [Sort_Direction.DESCENDING]: "DESC",
  };
  const direction = directions[sort.direction];
  if (direction === undefined) throw invalidArgument(`invalid sort direction ${sort.direction}: it must be ASCENDING or DESCENDING`);
  // A column with the same value in all rows, or of encoded messages, has no useful order.
  const none = constantValues(request).has(sort.key) || column.type === "bytes";
  const names = none ? [] : (column.order ?? [sort.key, entity.key]);
  return { columns: [...new Set(names.length === 0 ? byDefault : names)], direction };
}

function equalities({ equal = {} }: Pick<ListRequest, "equal">): (readonly [string, string | number | bigint])[] {
  return Object.entries(equal).flatMap(([name, value]) => (value === undefined || value === "" ? [] : [[name, value] as const]));
}

/** Columns with one value in all rows of the list. */
function constantValues({
  equal,
  constants = {},
}: Pick<ListRequest, "equal" | "constants">): ReadonlyMap<string, string | number | bigint> {
  return new Map([...equalities({ ...(equal && { equal }) }), ...Object.entries(constants)]);
}

/**
 * Parses the filters of a request.
 *
 * @throws RpcError INVALID_ARGUMENT naming the function, entity, column or value that is wrong.
 */
export function resolveFilters(entity: ListEntity, request: ListRequest): readonly ResolvedFilter[] {
  if (request.filters === "") return [];
  const terms = parseFilterTerms(request.filters);
  if (terms === undefined) throw invalidArgument("invalid value for filters: terms must be function(field,value) joined with +");
  const constants = constantValues(request);
  return terms.map((term) => foldConstants(resolveFilter(entity, term), constants));
}

/**
 * Replaces the column by its known value, so that PostgreSQL evaluates the condition once instead
 * of per row.
 */
function foldConstants(term: ResolvedFilter, constants: ReadonlyMap<string, string | number | bigint>): ResolvedFilter {
  const value = term.related === undefined ? constants.get(term.name) : undefined;
  if (value === undefined) return term;
  const { sql, value: other } = term.toSql(`$known::${columnTypes[term.column.type].cast}`);
  return { ...term, condition: { sql, value: other, constant: value } };
}

function resolveFilter(entity: ListEntity, term: FilterTerm): ResolvedFilter {
  const prefix = entityPrefixes.find((p) => term.field.startsWith(`${p}.`)) ?? entity.prefix;
  const name = term.field.startsWith(`${prefix}.`) ? term.field.slice(prefix.length + 1) : term.field;
  const related = prefix === entity.prefix ? undefined : entity.related[prefix];
  if (prefix !== entity.prefix && related === undefined) {
    throw invalidArgument(`invalid value for filters: '${prefix}' entity is not allowed in filters of ${entity.prefix} lists`);
  }
  const table: ColumnTable = related ?? entity;
  const column = Object.hasOwn(table.columns, name) ? table.columns[name] : undefined;
  if (column === undefined) throw invalidArgument(`invalid value for filters: '${prefix}.${name}' is not a column`);
  const toSql = comparison(column.type, term);
  return { prefix, name, function: term.function, values: term.values, column, related, toSql, condition: toSql(columnSql(table, name)) };
}

function comparison(type: ColumnType, term: FilterTerm): (sql: string) => Condition {
  const rule = columnTypes[type];
  const parsed = term.values.map((text) => {
    const value = rule.parse(text);
    if (value === undefined) {
      throw invalidArgument(`invalid value for filters: ${term.field} expects ${rule.expects}, not ${JSON.stringify(text)}`);
    }
    return value;
  });
  const [value = ""] = parsed;
  const repeated = term.function === "value_in" || term.function === "value_not_in";
  if (repeated) {
    const among = term.function === "value_in";
    const values = [...new Set(parsed)];
    if (values.length === 1) return (sql) => ({ sql: `${sql} ${among ? "=" : "<>"} $$::${rule.cast}`, value });
    return (sql) => ({ sql: `${sql} ${among ? "= ANY" : "<> ALL"}($$::${rule.cast}[])`, value: values });
  }
  const operator = operators.get(term.function);
  const like = term.function === "contains" || term.function === "not_like";
  if (operator === undefined && !like) throw invalidArgument(`invalid value for filters: unrecognized filter function: ${term.function}`);
  if (parsed.length !== 1) throw invalidArgument(`invalid value for filters: ${term.function}(${term.field}) takes one value`);
  if (operator !== undefined) return (sql) => ({ sql: `${sql} ${operator} $$::${rule.cast}`, value });
  if (type !== "text") throw invalidArgument(`invalid value for filters: ${term.function} needs a column of text, ${term.field} is none`);
  if (term.function === "not_like" && /(^|[^\\])(\\\\)*\\$/.test(value)) {
    throw invalidArgument(`invalid value for filters: ${term.field}: a pattern must not end in a single \\`);
  }
  return term.function === "contains"
    ? (sql) => ({ sql: `${sql} LIKE $$`, value: `%${value}%` })
    : (sql) => ({ sql: `${sql} NOT LIKE $$`, value });
}

function joins(terms: readonly ResolvedFilter[]): string {
  const tables = new Map<string, string>();
  for (const { related } of terms) if (related?.kind === "join") tables.set(related.table, related.on);
  return [...tables].map(([table, on]) => ` LEFT JOIN ${table} ON ${on}`).join("");
}

/** Returns the conditions that a matching row of a related table implies, once per table. */
function implied(terms: readonly ResolvedFilter[]): Condition[] {
  const sql = terms.flatMap(({ related }) =>
    related !== undefined && related.kind !== "same" && related.implies !== undefined ? [related.implies] : [],
  );
  return [...new Set(sql)].map((text) => ({ sql: text }));
}

function existsClauses(terms: readonly ResolvedFilter[], values: unknown[]): string[] {
  const groups = new Map<string, { related: Exclude<RelatedTable, { kind: "same" }>; conditions: Condition[] }>();
  for (const { related, condition } of terms) {
    if (related?.kind !== "exists") continue;
    const group = groups.get(related.table) ?? { related, conditions: [] };
    group.conditions.push(condition);
    groups.set(related.table, group);
  }
  return [...groups].map(([table, { related, conditions }]) => {
    const inner = bindAll(conditions, values);
    // OFFSET 0 is an optimization fence.
    return `EXISTS (SELECT 1 FROM ${table} WHERE ${related.on} AND ${inner}${related.oneByOne === true ? " OFFSET 0" : ""})`;
  });
}
