import type { Queryable } from "@flyte-ts/postgres";
import { columnTypes } from "./column-type.js";
import { bindAll, type Condition, bindParameters } from "./condition.js";
import { type ColumnTable, columnSql, type ListEntity, type LowCardinality, type ForeignKey } from "./entity.js";
import { countMatches, type PrefetchedIds, type IdFilter } from "./id-set.js";
import { type ListPlan, type ListRequest, orderOf, planTerms, resolveFilters, type ResolvedFilter } from "./plan.js";

/** Maximum of values passed to a list; with more, so many rows match that a page is soon full. */
const MAX_VALUES = 500;
/** Maximum of row ids of another table. */
const MAX_IDS = 10_000;

/**
 * {@link planList} for large tables. Resolves filters on low-cardinality columns and on other
 * tables first, with separate queries, and passes the values and row ids, so that PostgreSQL can
 * use an index and estimate the rows. `contains(user,ann)`, for example, becomes the matching
 * users. PostgreSQL can hardly estimate filters on another table, so the plan is forced: few rows
 * are read first; with many, the requested order is scanned until the page is full.
 *
 * @throws RpcError INVALID_ARGUMENT as planList does.
 */
export async function planWithPrefetch(db: Queryable, entity: ListEntity, request: ListRequest): Promise<ListPlan> {
  const terms = resolveFilters(entity, request);
  // Validates the request before any query.
  planTerms(entity, request, terms);
  const groups = new Map<unknown, ResolvedFilter[]>();
  for (const term of terms) {
    const group = foreignKeyOf(term) !== undefined && term.column.lowCardinality === undefined ? term.related : term;
    groups.set(group, [...(groups.get(group) ?? []), term]);
  }
  const prefetched = await Promise.all([...groups.values()].map((group) => prefetchFilter(db, { entity, request, terms, group })));
  const fewest = prefetched.toSorted((a, b) => (a.matches?.rows ?? Infinity) - (b.matches?.rows ?? Infinity))[0]?.matches;
  const left = prefetched.filter(({ matches }) => matches === undefined || matches !== fewest).flatMap((group) => group.terms);
  return planTerms(entity, { ...request, among: fewest?.numbered }, left);
}

interface Group {
  readonly entity: ListEntity;
  readonly request: ListRequest;
  /** All terms of the request. */
  readonly terms: readonly ResolvedFilter[];
  /** One term, or those on one joined table. */
  readonly group: readonly ResolvedFilter[];
}

interface PrefetchedFilter {
  readonly terms: readonly ResolvedFilter[];
  /** The matching rows, if few. */
  readonly matches?: { readonly rows: number; readonly numbered: IdFilter } | undefined;
}

async function prefetchFilter(db: Queryable, { entity, request, terms, group }: Group): Promise<PrefetchedFilter> {
  const [first] = group;
  if (first === undefined || first.condition.constant !== undefined) return { terms: group };
  const { lowCardinality: values } = first.column;
  if (values !== undefined)
    return { terms: needsResolution(first) ? [await resolveValues(db, { entity, request, term: first, source: values })] : group };
  const foreignKey = foreignKeyOf(first);
  return foreignKey === undefined ? { terms: group } : prefetchIds(db, { entity, request, terms, group }, { first, numbers: foreignKey });
}

/**
 * Resolves terms on another table to its row ids, and counts the listed rows that refer to them.
 */
async function prefetchIds(
  db: Queryable,
  { entity, request, terms, group }: Group,
  { first, numbers: foreignKey }: { readonly first: ResolvedFilter; readonly numbers: ForeignKey },
): Promise<PrefetchedFilter> {
  // A filter on the other table's name is a separate term, on a column of the listed row. It
  // restricts the rows of the other table as well.
  const named = terms.filter((term) => term.prefix === first.prefix && !group.includes(term));
  const { references, column, idColumn = "id" } = foreignKey;
  const conditions = [...group, ...named].map(({ name, toSql }) => toSql(columnSql(references, name)));
  if (first.related?.kind === "exists") {
    if (group.every(isShortPart)) return { terms: group.map(checkedOneByOne) };
    const matches = await countWithin(db, entity, { column, ids: { from: "table", table: references.table, idColumn, conditions } });
    return matches === undefined ? { terms: group.map(checkedOneByOne) } : { terms: group, matches };
  }
  const found = await selectIds(db, { select: idColumn, from: references.table, conditions });
  if (found === undefined) return { terms: group.map(checkedOneByOne) };
  const { count, text } = found;
  // An index sorts the rows of one id in this order: only one page of them is read.
  if (count === 1 && orderOf(entity, request).columns[0] === foreignKey.order) {
    return { terms: [withCondition(first, { sql: `${column} = $$::int8`, value: text.slice(1, -1) })] };
  }
  const matches = await countWithin(db, entity, { column, ids: found });
  const among = `${column} = ANY($$::int8[])`;
  // IS TRUE prevents an index lookup.
  return { terms: [withCondition(first, { sql: matches === undefined ? `(${among}) IS TRUE` : among, value: text })], matches };
}

/** Returns the row ids; undefined when there are too many. */
async function selectIds(db: Queryable, find: Omit<BoundedSelect, "known">): Promise<PrefetchedIds | undefined> {
  const values: unknown[] = [];
  const where = bindAll(find.conditions, values);
  const { rows } = await db.query<{ count: number; text: string | null }>({
    text: `SELECT count(*)::int AS count, array_agg(number)::text AS text
      FROM (SELECT ${find.select} AS number FROM ${find.from} WHERE ${where} LIMIT ${MAX_IDS + 1}) AS found`,
    values,
  });
  const { count, text } = rows[0] ?? { count: 0, text: null };
  return count > MAX_IDS ? undefined : { from: "before", count, text: text ?? "{}" };
}

/** True for parts below three characters, which a trigram index does not support. */
function isShortPart({ function: name, values: [part = ""] }: ResolvedFilter): boolean {
  return name === "contains" && part.length < 3;
}

function foreignKeyOf({ related }: ResolvedFilter): ForeignKey | undefined {
  return related === undefined || related.kind === "same" ? undefined : related.numbers;
}

async function countWithin(db: Queryable, entity: ListEntity, filter: IdFilter): Promise<PrefetchedFilter["matches"]> {
  const rows = await countMatches(db, entity.table, filter);
  return rows === undefined ? undefined : { rows, numbered: filter };
}

/** True unless the term names single known values, which an index finds directly. */
function needsResolution({ function: name, values, column: { lowCardinality } }: ResolvedFilter): boolean {
  const single = name === "eq" || name === "value_in";
  return !single || (lowCardinality?.from === "values" && !values.every((value) => lowCardinality.values.includes(value)));
}

interface ValueQuery {
  readonly entity: ListEntity;
  readonly request: ListRequest;
  readonly term: ResolvedFilter;
  readonly source: LowCardinality;
}

async function resolveValues(db: Queryable, { entity, request, term, source }: ValueQuery): Promise<ResolvedFilter> {
  const table: ColumnTable = term.related ?? entity;
  const column = columnSql(table, term.name);
  const found = await valuesFrom(db, { entity, request, term, source }, column);
  return found === undefined
    ? term
    : withCondition(term, { sql: `${column} = ANY($$::${columnTypes[term.column.type].cast}[])`, value: found });
}

function valuesFrom(db: Queryable, { entity, request, term, source }: ValueQuery, column: string): Promise<readonly string[] | undefined> {
  switch (source.from) {
    case "values":
      return selectBounded(db, {
        select: "value",
        from: "unnest($known::text[]) AS value",
        conditions: [term.toSql(`value::${columnTypes[term.column.type].cast}`)],
        known: source.values,
      });
    case "names": {
      const conditions = [{ sql: "resource_type = $$", value: source.resourceType }, term.toSql("name")];
      return selectBounded(db, { select: "DISTINCT name AS value", from: source.table, conditions });
    }
    case "index":
      return indexedValues(db, { entity, request, term, source }, column);
  }
}

/** Reads the distinct values with a loose index scan, which skips the rows between them. */
async function indexedValues(db: Queryable, { entity, request, term }: ValueQuery, column: string): Promise<readonly string[] | undefined> {
  const values: unknown[] = [];
  const within = Object.entries(request.equal ?? {})
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => bindParameters({ sql: `${columnSql(entity, name)} = $$`, value }, values))
    .join(" AND ");
  const next = (after: string) =>
    `(SELECT ${column} AS value FROM ${entity.table} WHERE ${within} AND ${column} ${after} ORDER BY ${column} LIMIT 1)`;
  const { rows } = await db.query<{ value: string; fits: boolean }>({
    text: `WITH RECURSIVE few AS (${next("IS NOT NULL")}
        UNION ALL SELECT ${next("> few.value")} FROM few WHERE few.value IS NOT NULL)
      SELECT value::text, ${bindParameters(term.toSql("value"), values)} AS fits FROM few WHERE value IS NOT NULL LIMIT ${MAX_VALUES + 1}`,
    values,
  });
  return rows.length > MAX_VALUES ? undefined : rows.filter(({ fits }) => fits).map(({ value }) => value);
}

interface BoundedSelect {
  readonly select: string;
  readonly from: string;
  readonly conditions: readonly Condition[];
  readonly known?: unknown;
}

/** Returns the first column of the rows; undefined above the limit. */
async function selectBounded<T>(db: Queryable, { select, from, conditions, known }: BoundedSelect): Promise<readonly T[] | undefined> {
  const values: unknown[] = known === undefined ? [] : [known];
  const where = bindAll(conditions, values);
  const text = `SELECT ${select} FROM ${from.replace("$known", "$1")} WHERE ${where} LIMIT ${MAX_VALUES + 1}`;
  const { rows } = await db.query<Record<string, T>>({ text, values });
  return rows.length > MAX_VALUES ? undefined : rows.flatMap((row) => Object.values(row));
}

/** Replaces the condition of a term by one on the listed table. */
function withCondition(term: ResolvedFilter, condition: Condition): ResolvedFilter {
  return { ...term, related: undefined, condition };
}

/** Evaluates the term per listed row instead of joining its table. */
function checkedOneByOne(term: ResolvedFilter): ResolvedFilter {
  const { related } = term;
  return related === undefined || related.kind === "same" ? term : { ...term, related: { ...related, kind: "exists", oneByOne: true } };
}
