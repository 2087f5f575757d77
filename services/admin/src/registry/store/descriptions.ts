import { create, toBinary } from "@bufbuild/protobuf";
import { type DescriptionEntity, DescriptionEntitySchema } from "@flyte-ts/idl/flyteidl/admin/description_entity_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { invalidArgument } from "../../platform/rpc-errors.js";

/** Maximum length of a short description, bytes of UTF-8: lists are sorted by it, so index entries contain it. */
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
