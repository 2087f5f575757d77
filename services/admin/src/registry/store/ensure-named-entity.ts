import { NamedEntityState } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";

/** Creates the row of a version's name unless it exists; call it in the transaction that stores the version. */
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
