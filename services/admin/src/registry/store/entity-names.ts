import type { NamedEntityIdentifierList, NamedEntityIdentifierListRequest } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { NamedEntityIdentifierListSchema } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import type { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { create } from "@bufbuild/protobuf";
import type { Queryable } from "@flyte-ts/postgres";
import { type Column, invalidArgument, type ListEntity, nextToken, planList, selectPage } from "../../platform/index.js";

const nameEntity: ListEntity = {
  prefix: "entities",
  table: "named_entities",
  key: "name",
  columns: { project: { type: "text" }, domain: { type: "text" }, name: { type: "text" }, resource_type: { type: "int4" } },
  related: {},
};

interface NamesOf {
  readonly rpc: string;
  readonly resourceType: ResourceType;
  /** Columns of the entity, to distinguish a key that cannot sort names from an unknown one. */
  readonly columns: Readonly<Record<string, Column>>;
}

/**
 * Lists the distinct names that have versions; of all projects or domains where the request names
 * none. Ignores the request's filters, as Flyte does.
 *
 * @throws RpcError INVALID_ARGUMENT.
 */
export async function listNames(
  db: Queryable,
  { rpc, resourceType, columns }: NamesOf,
  { project, domain, limit, token, sortBy }: NamedEntityIdentifierListRequest,
): Promise<NamedEntityIdentifierList> {
  if (sortBy !== undefined && !Object.hasOwn(nameEntity.columns, sortBy.key) && Object.hasOwn(columns, sortBy.key)) {
    throw invalidArgument(`invalid sort key '${sortBy.key}': names are sorted by project, domain or name`);
  }
  const plan = planList(nameEntity, {
    rpc,
    filters: "",
    limit,
    token,
    sortBy,
    equal: { project, domain, resource_type: resourceType },
  });
  const { rows } = await db.query<{ project: string; domain: string; name: string }>(selectPage(plan, "project, domain, name"));
  return create(NamedEntityIdentifierListSchema, { entities: rows, token: nextToken(plan, rows.length) });
}
