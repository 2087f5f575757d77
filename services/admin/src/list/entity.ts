import type { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { ColumnType } from "./column-type.js";

/** What a filter may name before the dot: `workflow.name`. */
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
  /** SQL expression that stands for the column; by default `table.name`. */
  readonly sql?: string;
  /** The columns that put rows in the order of this one, as an index has them. Default: itself, then the key of the table. None: all rows of a list have the same. */
  readonly order?: readonly string[];
  /** It has some hundreds of values at most, and they can be known without reading all rows: see narrow.ts. */
  readonly few?: FewValues;
  /** Why no index serves it (`all`), or orders of it alone (`order`): what such a list reads grows with its project. */
  readonly unindexed?: { readonly of: "all" | "order"; readonly because: string };
}

/**
 * Where the values of a column stand.
 * - `index`: an index begins with the columns of the list's equality conditions, then has this column.
 * - `names`: they are names of definitions of this type.
 * - `values`: these are all.
 */
export type FewValues =
  | { readonly from: "index" }
  | { readonly from: "names"; readonly resourceType: ResourceType }
  | { readonly from: "values"; readonly values: readonly string[] };

/** The columns of one table that clients may name. */
export interface ColumnTable {
  readonly table: string;
  readonly columns: Readonly<Record<string, Column>>;
}

/**
 * Another table that filters of a list may refer to.
 * - `join`: rows are joined with `on`; use it where at most one row matches.
 * - `exists`: the filters on this table become one `EXISTS (…)`, so that several
 *   matching rows do not repeat the listed row.
 * - `same`: another name for columns of the listed table itself.
 */
export type RelatedTable = ColumnTable &
  (
    | {
        readonly kind: "join" | "exists";
        readonly on: string;
        readonly numbers?: Numbers;
        /** Holds for all rows that have such a row; told to the database, which cannot know. */
        readonly implies?: string;
        /** The database is not to begin with this table (`exists`). */
        readonly oneByOne?: boolean;
      }
    | { readonly kind: "same" }
  );

/** The rows of another table are first looked for by themselves: where they are few, the list is told their numbers. */
export interface Numbers {
  /** Column of the listed table, in SQL, that holds the number. An index begins with it. */
  readonly column: string;
  /** That index goes on with this column: it has the rows of one number in its order. */
  readonly order?: string;
  /** The other table with columns of its own. */
  readonly of: ColumnTable;
  /** Column of the other table that holds the number. Default: `id`. */
  readonly number?: string;
}

/**
 * One listable entity, declared. Everything that reaches SQL as text stands in such a
 * declaration; what clients send reaches SQL only as parameters.
 */
export interface EntityDescription extends ColumnTable {
  readonly prefix: EntityPrefix;
  /** Column that makes any order total. */
  readonly key: string;
  /** The order when the request names none. Default: the key. */
  readonly order?: readonly string[];
  readonly related: Readonly<Partial<Record<EntityPrefix, RelatedTable>>>;
}

/** Columns that every table of entities has. */
export const baseColumns = {
  id: { type: "int8", unindexed: { of: "all", because: "a number that no answer shows" } },
  created_at: { type: "timestamp" },
  updated_at: { type: "timestamp" },
  deleted_at: { type: "timestamp", sql: "NULL::timestamptz", order: [] },
} as const satisfies Record<string, Column>;

/** Columns that every table of registered versions has. */
export const versionedColumns = {
  ...baseColumns,
  project: { type: "text" },
  domain: { type: "text" },
  name: { type: "text" },
  version: { type: "text" },
} as const satisfies Record<string, Column>;

/** SQL text of a column. */
export function columnSql(table: ColumnTable, name: string): string {
  return table.columns[name]?.sql ?? `${table.table}.${name}`;
}
