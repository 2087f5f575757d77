import type { Queryable } from "@flyte-ts/postgres";
import { type ColumnTable, columnSql, type EntityDescription, type FewValues } from "./entity.js";
import { columnTypes } from "./column-type.js";
import { type Condition, type ListPlan, type ListRequest, numbered, planTerms, readTerms, type ReadTerm } from "./plan.js";

/** Values or numbers that a list is told; of more, so many rows match that a page of them is found soon. */
const MAX_TOLD = 500;

/**
 * {@link planList} for tables of millions of rows. What terms say of columns with few values, and of other tables, is
 * found out first, by queries of their own, and told as lists of values and numbers: these the database can look up in an
 * index, and it knows how many rows have them. `contains(user,ann)` for instance becomes the users that match.
 *
 * @throws RpcError INVALID_ARGUMENT as planList does.
 */
export async function planNarrowed(db: Queryable, entity: EntityDescription, request: ListRequest): Promise<ListPlan> {
  const terms = readTerms(entity, request);
  // Says what is wrong with the request before anything is asked.
  planTerms(entity, request, terms);
  const groups = new Map<unknown, ReadTerm[]>();
  for (const term of terms) {
    const table =
      term.related?.kind === "join" && term.related.numbers !== undefined && term.column.few === undefined ? term.related : term;
    groups.set(table, [...(groups.get(table) ?? []), term]);
  }
  const narrowed = await Promise.all([...groups.values()].map((group) => narrowGroup(db, { entity, request, terms, group })));
  return planTerms(entity, request, narrowed.flat());
}

interface Group {
  readonly entity: EntityDescription;
  readonly request: ListRequest;
  /** All terms of the request. */
  readonly terms: readonly ReadTerm[];
  /** One term, or those on one joined table. */
  readonly group: readonly ReadTerm[];
}

async function narrowGroup(db: Queryable, { entity, request, terms, group }: Group): Promise<readonly ReadTerm[]> {
  const [first] = group;
  if (first === undefined || first.condition.known !== undefined) return group;
  const { few } = first.column;
  if (few !== undefined) return needsValues(first) ? [await toldValues(db, { entity, request, term: first, few })] : group;
  const numbers = first.related?.kind === "join" ? first.related.numbers : undefined;
  if (numbers === undefined) return group;
  // The name stands in the listed row and is a term of its own, but it says which rows of the other table are meant, too.
  const named = terms.filter((term) => term.prefix === first.prefix && !group.includes(term));
  const conditions = [...group, ...named].map(({ name, says }) => says(columnSql(numbers.of, name)));
  const found = await firstFew<string>(db, { select: "id", from: numbers.of.table, conditions });
  return found === undefined ? group : [told(first, { sql: `${numbers.column} = ANY($$::int8[])`, value: found })];
}

/** Of a single value an index tells by itself. */
function needsValues({ function: name, column }: ReadTerm): boolean {
  return column.few?.from === "values" || (name !== "eq" && name !== "value_in");
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
        conditions: [term.says("value")],
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

/** Goes from each value in the index to the next, without reading the rows between them. */
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
      SELECT value::text, ${numbered(term.says("value"), values)} AS fits FROM few WHERE value IS NOT NULL LIMIT ${MAX_TOLD + 1}`,
    values,
  });
  return rows.length > MAX_TOLD ? undefined : rows.filter(({ fits }) => fits).map(({ value }) => value);
}

interface Find {
  readonly select: string;
  readonly from: string;
  readonly conditions: readonly Condition[];
  readonly known?: unknown;
}

/** Undefined where they are not few. */
async function firstFew<T>(db: Queryable, { select, from, conditions, known }: Find): Promise<readonly T[] | undefined> {
  const values: unknown[] = known === undefined ? [] : [known];
  const where = conditions.map((condition) => numbered(condition, values)).join(" AND ");
  const text = `SELECT ${select} FROM ${from.replace("$known", "$1")} WHERE ${where} LIMIT ${MAX_TOLD + 1}`;
  const { rows } = await db.query<Record<string, T>>({ text, values });
  return rows.length > MAX_TOLD ? undefined : rows.flatMap((row) => Object.values(row));
}

/** The term, said otherwise; of the listed table alone. */
function told(term: ReadTerm, condition: Condition): ReadTerm {
  return { ...term, related: undefined, condition };
}
