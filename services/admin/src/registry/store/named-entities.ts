import { baseColumns, type Column, type ListEntity, type ListPlan, selectPage } from "../../platform/index.js";
import type { Identifier, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { NamedEntityState } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import type { Queryable } from "@flyte-ts/postgres";

const nameColumns = {
  resource_type: { type: "int4" },
  project: { type: "text" },
  domain: { type: "text" },
  name: { type: "text" },
  description: { type: "text" },
  state: { type: "int4" },
} as const satisfies Record<string, Column>;

/** Filters and sort keys of ListNamedEntities. */
export const namedEntityEntity: ListEntity = {
  prefix: "entities",
  table: "named_entities",
  key: "name",
  columns: nameColumns,
  related: {
    // Flyte stores state and description in a separate table; here they are columns of the same
    // row.
    named_entity_metadata: { kind: "same", table: "named_entities", columns: { ...baseColumns, ...nameColumns } },
  },
};

export interface NamedEntityRow {
  resource_type: ResourceType;
  project: string;
  domain: string;
  name: string;
  description: string;
  state: NamedEntityState;
}

const columns = "resource_type, project, domain, name, description, state";

export interface NamedEntityKey {
  readonly resourceType: ResourceType;
  readonly project: string;
  readonly domain: string;
  readonly name: string;
}

export async function findNamedEntity(
  db: Queryable,
  { resourceType, project, domain, name }: NamedEntityKey,
): Promise<NamedEntityRow | undefined> {
  const { rows } = await db.query<NamedEntityRow>({
    name: "find-named-entity",
    text: `SELECT ${columns} FROM named_entities WHERE resource_type = $1 AND project = $2 AND domain = $3 AND name = $4`,
    values: [resourceType, project, domain, name],
  });
  return rows[0];
}

/**
 * Keeps the stored description when the given one is empty. Returns false when there is no such
 * name.
 */
export async function updateNamedEntity(
  db: Queryable,
  { resourceType, project, domain, name }: NamedEntityKey,
  { description, state, now }: { readonly description: string; readonly state: NamedEntityState; readonly now: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `UPDATE named_entities SET description = COALESCE(NULLIF($5, ''), description), state = $6, updated_at = $7
      WHERE resource_type = $1 AND project = $2 AND domain = $3 AND name = $4`,
    values: [resourceType, project, domain, name, description, state, now],
  });
  return rowCount > 0;
}

export async function listNamedEntities(db: Queryable, plan: ListPlan): Promise<readonly NamedEntityRow[]> {
  return (await db.query<NamedEntityRow>(selectPage(plan, columns))).rows;
}

/**
 * Creates the row of a version's name unless it exists; call it in the transaction that stores the
 * version.
 */
export async function ensureNamedEntity(
  tx: Queryable,
  id: Identifier,
  state: NamedEntityState = NamedEntityState.NAMED_ENTITY_ACTIVE,
): Promise<void> {
  await tx.query({
    name: "ensure-named-entity",
    text: `INSERT INTO named_entities (resource_type, project, domain, name, state)
      VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
    values: [id.resourceType, id.project, id.domain, id.name, state],
  });
}
