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
}

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
export type RelatedTable = ColumnTable & ({ readonly kind: "join" | "exists"; readonly on: string } | { readonly kind: "same" });

/**
 * One listable entity, declared. Everything that reaches SQL as text stands in such a
 * declaration; what clients send reaches SQL only as parameters.
 */
export interface EntityDescription extends ColumnTable {
  readonly prefix: EntityPrefix;
  /** Column that makes any order total; also the order when the request names none. */
  readonly key: string;
  readonly related: Readonly<Partial<Record<EntityPrefix, RelatedTable>>>;
}

/** Columns that every table of entities has. */
export const baseColumns = {
  id: { type: "int8" },
  created_at: { type: "timestamp" },
  updated_at: { type: "timestamp" },
  deleted_at: { type: "timestamp", sql: "NULL::timestamptz" },
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
