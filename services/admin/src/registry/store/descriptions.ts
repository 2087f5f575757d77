import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type DescriptionEntity, DescriptionEntitySchema } from "@flyte-ts/idl/flyteidl/admin/description_entity_pb";
import { type Identifier, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { baseColumns, invalidArgument, type ListEntity, type ListPlan, selectPage } from "../../platform/index.js";

/**
 * Maximum length of a short description, bytes of UTF-8: lists are sorted by it, so index entries
 * contain it.
 */
const MAX_SHORT_DESCRIPTION_BYTES = 2_000;

interface NewDescription {
  readonly id: Identifier;
  /** Undefined: nothing is stored. */
  readonly description: DescriptionEntity | undefined;
  readonly now: Date;
}

/** Stores the description of a version; call it in the transaction that stores the version. */
export async function storeDescription(tx: Queryable, { id, description, now }: NewDescription): Promise<void> {
  if (description === undefined) return;
  const entity = create(DescriptionEntitySchema, {
    id,
    shortDescription: description.shortDescription,
    longDescription: description.longDescription ?? {},
    sourceCode: description.sourceCode ?? {},
  });
  await tx.query({
    name: "store-description",
    text: `INSERT INTO description_entities (resource_type, project, domain, name, version, short_description, entity, created_at, updated_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) ON CONFLICT DO NOTHING`,
    values: [
      id.resourceType,
      id.project,
      id.domain,
      id.name,
      id.version,
      description.shortDescription,
      toBinary(DescriptionEntitySchema, entity),
      now,
    ],
  });
}

/** @throws RpcError INVALID_ARGUMENT. */
export function checkDescription(description: DescriptionEntity | undefined): void {
  const text = description?.shortDescription ?? "";
  if (text.includes("\0")) throw invalidArgument("invalid value for spec.description.short_description: NUL characters are not allowed");
  if (Buffer.byteLength(text) > MAX_SHORT_DESCRIPTION_BYTES) {
    throw invalidArgument(`spec.description.short_description cannot exceed ${MAX_SHORT_DESCRIPTION_BYTES} bytes`);
  }
}

/** Resource types with descriptions; indexes of their table begin with this column. */
export const DESCRIBED = [ResourceType.TASK, ResourceType.WORKFLOW];

/**
 * Filters and sort keys of ListDescriptionEntities. Filters may have the prefix of the requested
 * kind of entity.
 */
export function descriptionEntity(prefix: "task" | "workflow" | "launch_plan"): ListEntity {
  return {
    prefix,
    table: "description_entities",
    key: "id",
    columns: {
      ...baseColumns,
      resource_type: { type: "int4" },
      project: { type: "text" },
      domain: { type: "text" },
      name: { type: "text" },
      version: { type: "text" },
      short_description: { type: "text" },
    },
    related: {},
  };
}

/** Finds the description of a version; one of the requested kind has precedence. */
export async function findDescription(db: Queryable, id: Identifier): Promise<DescriptionEntity | undefined> {
  const { rows } = await db.query<{ entity: Uint8Array }>({
    name: "find-description",
    text: `SELECT entity FROM description_entities
      WHERE resource_type = ANY($1::int[]) AND project = $2 AND domain = $3 AND name = $4 AND version = $5
      ORDER BY resource_type <> $6, resource_type LIMIT 1`,
    values: [DESCRIBED, id.project, id.domain, id.name, id.version, id.resourceType],
  });
  return rows[0] && fromBinary(DescriptionEntitySchema, rows[0].entity);
}

export async function listDescriptions(db: Queryable, plan: ListPlan): Promise<readonly DescriptionEntity[]> {
  const { rows } = await db.query<{ entity: Uint8Array }>(selectPage(plan, "entity"));
  return rows.map((row) => fromBinary(DescriptionEntitySchema, row.entity));
}
