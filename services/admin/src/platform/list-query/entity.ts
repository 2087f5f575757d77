import type { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { ColumnType } from "./column-type.js";

/** Prefix of a filter's field: `workflow.name`. */
export type EntityPrefix =
  | "task"
  | "workflow"
  | "launch_plan"
  | "execution"
  | "node_execution"
  | "task_execution"
  | "entities"
  | "named_entity_metadata"
  | "project"
  | "signal"
  | "admin_tag"
  | "execution_admin_tag"
  | "execution_tag";

export const entityPrefixes: readonly EntityPrefix[] = [
  "task",
  "workflow",
  "launch_plan",
  "execution",
  "node_execution",
  "task_execution",
  "entities",
  "named_entity_metadata",
  "project",
  "signal",
  "admin_tag",
  "execution_admin_tag",
  "execution_tag",
];

export interface Column {
  readonly type: ColumnType;
  /** SQL expression of the column; default `table.name`. */
  readonly sql?: string;
  /**
   * Columns that sort rows by this one, as an index has them. Default: the column, then the key of
   * the table. Empty: all rows of a list have the same value.
   */
  readonly order?: readonly string[];
  /**
   * Set for a low-cardinality column (some hundreds of values) whose values can be read without
   * scanning all rows: see prefetch-filters.ts.
   */
  readonly lowCardinality?: LowCardinality;
  /**
   * Set when no index supports the column (`all`), or none supports sorting by it (`order`), with
   * the reason. The cost of such a list grows with its project.
   */
  readonly unindexed?: { readonly of: "all" | "order"; readonly because: string };
}

/**
 * Source of a low-cardinality column's values.
 * - `index`: an index begins with the columns of the list's equality conditions, then has this
 *   column.
 * - `names`: names of definitions of this type, in the table of names.
 * - `values`: this complete list.
 */
export type LowCardinality =
  | { readonly from: "index" }
  | { readonly from: "names"; readonly table: string; readonly resourceType: ResourceType }
  | { readonly from: "values"; readonly values: readonly string[] };

/** Columns of one table that clients may name. */
export interface ColumnTable {
  readonly table: string;
  readonly columns: Readonly<Record<string, Column>>;
}

/**
 * Another table that filters of a list may refer to.
 * - `join`: rows are joined with `on`; use it where at most one row matches.
 * - `exists`: the filters on this table become one `EXISTS (…)`, so that several matching rows do
 *   not repeat the listed
 * row.
 * - `same`: another name for columns of the listed table itself.
 */
export type RelatedTable = ColumnTable &
  (
    | {
        readonly kind: "join" | "exists";
        readonly on: string;
        readonly numbers?: ForeignKey;
        /**
         * Condition that holds for every listed row with a matching row in this table; a hint for
         * the planner, which cannot know it.
         */
        readonly implies?: string;
        /** Prevents the planner from starting with this table (`exists`). */
        readonly oneByOne?: boolean;
      }
    | { readonly kind: "same" }
  );

/**
 * Resolves filters on another table to row ids first: if there are few, the list uses them as a
 * condition.
 */
export interface ForeignKey {
  /** Column of the listed table, in SQL, that has the id. An index begins with it. */
  readonly column: string;
  /** Next column of that index: it sorts the rows of one id. */
  readonly order?: string;
  /** The other table and its columns. */
  readonly references: ColumnTable;
  /** Column of the other table with the id. Default: `id`. */
  readonly idColumn?: string;
}

/**
 * Declaration of a listable entity. All SQL text comes from such declarations; input of clients is
 * passed only as parameters.
 */
export interface ListEntity extends ColumnTable {
  readonly prefix: EntityPrefix;
  /** Unique column that makes any order total. */
  readonly key: string;
  /** Order of a request without sort key. Default: the key. */
  readonly order?: readonly string[];
  readonly related: Readonly<Partial<Record<EntityPrefix, RelatedTable>>>;
}

/** Columns of every table of entities. */
export const baseColumns = {
  id: { type: "int8", unindexed: { of: "all", because: "a number that no answer shows" } },
  created_at: { type: "timestamp" },
  updated_at: { type: "timestamp" },
  deleted_at: { type: "timestamp", sql: "NULL::timestamptz", order: [] },
} as const satisfies Record<string, Column>;

/** Columns of every table of registered versions. */
export const versionedColumns = {
  ...baseColumns,
  project: { type: "text" },
  domain: { type: "text" },
  name: { type: "text" },
  version: { type: "text" },
} as const satisfies Record<string, Column>;

/** Returns the SQL of a column. */
export function columnSql(table: ColumnTable, name: string): string {
  return table.columns[name]?.sql ?? `${table.table}.${name}`;
}
