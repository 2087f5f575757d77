import type { Queryable } from "@flyte-ts/postgres";
import { columnTypes } from "./column-type.js";
import { allNumbered, type Condition, numbered } from "./condition.js";
import { type ColumnTable, columnSql, type EntityDescription, type FewValues, type Numbers } from "./entity.js";
import { countFew, type KnownNumbers, type Numbered } from "./few-rows.js";
import { type ListPlan, type ListRequest, orderOf, planTerms, readTerms, type ReadTerm } from "./plan.js";

/** Maximum of values passed to a list; with more, so many rows match that a page is soon full. */
const MAX_VALUES = 500;
/** Maximum of row ids of another table. */
const MAX_NUMBERS = 10_000;

/**
 * {@link planList} for large tables. Resolves filters on low-cardinality columns and on other tables first, with
 * separate queries, and passes the values and row ids, so that PostgreSQL can use an index and estimate the rows.
 * `contains(user,ann)`, for example, becomes the matching users. PostgreSQL can hardly estimate filters on another
 * table, so the plan is forced: few rows are read first; with many, the requested order is scanned until the page is
 * full.
 *
 * @throws RpcError INVALID_ARGUMENT as planList does.
 */
export async function planNarrowed(db: Queryable, entity: EntityDescription, request: ListRequest): Promise<ListPlan> {
  const terms = readTerms(entity, request);
  // Validates the request before any query.
  planTerms(entity, request, terms);
  const groups = new Map<unknown, ReadTerm[]>();
  for (const term of terms) {
    const group = numbersOf(term) !== undefined && term.column.few === undefined ? term.related : term;
    groups.set(group, [...(groups.get(group) ?? []), term]);
  }
  const narrowed = await Promise.all([...groups.values()].map((group) => narrowGroup(db, { entity, request, terms, group })));
  const fewest = narrowed.toSorted((a, b) => (a.few?.rows ?? Infinity) - (b.few?.rows ?? Infinity))[0]?.few;
  const left = narrowed.filter(({ few }) => few === undefined || few !== fewest).flatMap((group) => group.terms);
  return planTerms(entity, { ...request, among: fewest?.numbered }, left);
}

interface Group {
  readonly entity: EntityDescription;
  readonly request: ListRequest;
  /** All terms of the request. */
  readonly terms: readonly ReadTerm[];
  /** One term, or those on one joined table. */
  readonly group: readonly ReadTerm[];
}

interface Narrowed {
  readonly terms: readonly ReadTerm[];
  /** The matching rows, if few. */
  readonly few?: { readonly rows: number; readonly numbered: Numbered } | undefined;
}

async function narrowGroup(db: Queryable, { entity, request, terms, group }: Group): Promise<Narrowed> {
  const [first] = group;
  if (first === undefined || first.condition.known !== undefined) return { terms: group };
  const { few: values } = first.column;
  if (values !== undefined)
    return { terms: needsValues(first) ? [await toldValues(db, { entity, request, term: first, few: values })] : group };
  const numbers = numbersOf(first);
  return numbers === undefined ? { terms: group } : narrowByNumbers(db, { entity, request, terms, group }, { first, numbers });
}

/** Resolves terms on another table to its row ids, and counts the listed rows that refer to them. */
async function narrowByNumbers(
  db: Queryable,
  { entity, request, terms, group }: Group,
  { first, numbers }: { readonly first: ReadTerm; readonly numbers: Numbers },
): Promise<Narrowed> {
  // The name is a column of the listed row and a separate term, but it also restricts the rows of the other table.
  const named = terms.filter((term) => term.prefix === first.prefix && !group.includes(term));
  const conditions = [...group, ...named].map(({ name, says }) => says(columnSql(numbers.of, name)));
  const { of, column, number = "id" } = numbers;
  if (first.related?.kind === "exists") {
    if (group.every(isShortPart)) return { terms: group.map(checkedOneByOne) };
    const few = await counted(db, entity, { column, numbers: { from: "table", table: of.table, number, conditions } });
    return few === undefined ? { terms: group.map(checkedOneByOne) } : { terms: group, few };
  }
  const found = await findNumbers(db, { select: number, from: of.table, conditions });
  if (found === undefined) return { terms: group.map(checkedOneByOne) };
  const { count, text } = found;
  // An index sorts the rows of one id in this order: only one page of them is read.
  if (count === 1 && orderOf(entity, request).columns[0] === numbers.order) {
    return { terms: [told(first, { sql: `${column} = $$::int8`, value: text.slice(1, -1) })] };
  }
  const few = await counted(db, entity, { column, numbers: found });
  const among = `${column} = ANY($$::int8[])`;
  // IS TRUE prevents an index lookup.
  return { terms: [told(first, { sql: few === undefined ? `(${among}) IS TRUE` : among, value: text })], few };
}

/** Returns the row ids; undefined when there are too many. */
async function findNumbers(db: Queryable, find: Omit<Find, "known">): Promise<KnownNumbers | undefined> {
  const values: unknown[] = [];
  const where = allNumbered(find.conditions, values);
  const { rows } = await db.query<{ count: number; text: string | null }>({
    text: `SELECT count(*)::int AS count, array_agg(number)::text AS text
      FROM (SELECT ${find.select} AS number FROM ${find.from} WHERE ${where} LIMIT ${MAX_NUMBERS + 1}) AS found`,
    values,
  });
  const { count, text } = rows[0] ?? { count: 0, text: null };
  return count > MAX_NUMBERS ? undefined : { from: "before", count, text: text ?? "{}" };
}

/** True for parts below three characters, which a trigram index does not support. */
function isShortPart({ function: name, values: [part = ""] }: ReadTerm): boolean {
  return name === "contains" && part.length < 3;
}

function numbersOf({ related }: ReadTerm): Numbers | undefined {
  return related === undefined || related.kind === "same" ? undefined : related.numbers;
}

async function counted(db: Queryable, entity: EntityDescription, few: Numbered): Promise<Narrowed["few"]> {
  const rows = await countFew(db, entity.table, few);
  return rows === undefined ? undefined : { rows, numbered: few };
}

/** True unless the term names single known values, which an index finds directly. */
function needsValues({ function: name, values, column: { few } }: ReadTerm): boolean {
  const single = name === "eq" || name === "value_in";
  return !single || (few?.from === "values" && !values.every((value) => few.values.includes(value)));
}

interface Few {
  readonly entity: EntityDescription;
  readonly request: ListRequest;
  readonly term: ReadTerm;
  readonly few: FewValues;
}

async function toldValues(db: Queryable, { entity, request, term, few }: Few): Promise<ReadTerm> {
  const table: ColumnTable = term.related ?? entity;
  const column = columnSql(table, term.name);
  const found = await valuesOf(db, { entity, request, term, few }, column);
  return found === undefined ? term : told(term, { sql: `${column} = ANY($$::${columnTypes[term.column.type].cast}[])`, value: found });
}

function valuesOf(db: Queryable, { entity, request, term, few }: Few, column: string): Promise<readonly string[] | undefined> {
  switch (few.from) {
    case "values":
      return firstFew(db, {
        select: "value",
        from: "unnest($known::text[]) AS value",
        conditions: [term.says(`value::${columnTypes[term.column.type].cast}`)],
        known: few.values,
      });
    case "names": {
      const conditions = [{ sql: "resource_type = $$", value: few.resourceType }, term.says("name")];
      return firstFew(db, { select: "DISTINCT name AS value", from: "named_entities", conditions });
    }
    case "index":
      return indexedValues(db, { entity, request, term, few }, column);
  }
}

/** Reads the distinct values with a loose index scan, which skips the rows between them. */
async function indexedValues(db: Queryable, { entity, request, term }: Few, column: string): Promise<readonly string[] | undefined> {
  const values: unknown[] = [];
  const within = Object.entries(request.equal ?? {})
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => numbered({ sql: `${columnSql(entity, name)} = $$`, value }, values))
    .join(" AND ");
  const next = (after: string) =>
    `(SELECT ${column} AS value FROM ${entity.table} WHERE ${within} AND ${column} ${after} ORDER BY ${column} LIMIT 1)`;
  const { rows } = await db.query<{ value: string; fits: boolean }>({
    text: `WITH RECURSIVE few AS (${next("IS NOT NULL")}
        UNION ALL SELECT ${next("> few.value")} FROM few WHERE few.value IS NOT NULL)
      SELECT value::text, ${numbered(term.says("value"), values)} AS fits FROM few WHERE value IS NOT NULL LIMIT ${MAX_VALUES + 1}`,
    values,
  });
  return rows.length > MAX_VALUES ? undefined : rows.filter(({ fits }) => fits).map(({ value }) => value);
}

interface Find {
  readonly select: string;
  readonly from: string;
  readonly conditions: readonly Condition[];
  readonly known?: unknown;
}

/** Returns the first column of the rows; undefined above the limit. */
async function firstFew<T>(db: Queryable, { select, from, conditions, known }: Find): Promise<readonly T[] | undefined> {
  const values: unknown[] = known === undefined ? [] : [known];
  const where = allNumbered(conditions, values);
  const text = `SELECT ${select} FROM ${from.replace("$known", "$1")} WHERE ${where} LIMIT ${MAX_VALUES + 1}`;
  const { rows } = await db.query<Record<string, T>>({ text, values });
  return rows.length > MAX_VALUES ? undefined : rows.flatMap((row) => Object.values(row));
}

/** Replaces the condition of a term by one on the listed table. */
function told(term: ReadTerm, condition: Condition): ReadTerm {
  return { ...term, related: undefined, condition };
}

/** Evaluates the term per listed row instead of joining its table. */
function checkedOneByOne(term: ReadTerm): ReadTerm {
  const { related } = term;
  return related === undefined || related.kind === "same" ? term : { ...term, related: { ...related, kind: "exists", oneByOne: true } };
}
