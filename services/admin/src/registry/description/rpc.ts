import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { DescriptionEntity } from "@flyte-ts/idl/flyteidl/admin/description_entity_pb";
import type { Queryable } from "@flyte-ts/postgres";
import type { ListPlan } from "../../platform/list-query/plan.js";
import { fromBinary } from "@bufbuild/protobuf";
import { DescriptionEntitySchema } from "@flyte-ts/idl/flyteidl/admin/description_entity_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import type { AdminDeps } from "../../deps.js";
import { checkIdentifier, checkNamedEntity, identifierText } from "../../platform/identifiers.js";
import { notFound } from "../../platform/rpc-errors.js";
import { baseColumns, type ListEntity } from "../../platform/list-query/entity.js";
import { planList, selectPage } from "../../platform/list-query/plan.js";
import { nextToken } from "../../platform/list-query/token.js";

/** Resource types with descriptions; indexes of their table begin with this column. */
const DESCRIBED = [ResourceType.TASK, ResourceType.WORKFLOW];

/** Filters and sort keys of ListDescriptionEntities. Filters may have the prefix of the requested kind of entity. */
function descriptionEntity(prefix: "task" | "workflow" | "launch_plan"): ListEntity {
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

/**
 * Descriptions of tasks and workflows. As in Flyte, a description of any kind with the name is returned; among several,
 * one of the requested kind has precedence.
 */
export function descriptionEntityRpcs({ db }: Pick<AdminDeps, "db">): ServiceImplementation<typeof AdminService> {
  return {
    async getDescriptionEntity({ id }) {
      checkIdentifier(id);
      const found = await findDescription(db, id);
      if (found === undefined) throw notFound(`no description of ${identifierText(id)}`);
      return found;
    },

    async listDescriptionEntities({ resourceType, id, limit, token, filters, sortBy }) {
      checkNamedEntity(id);
      const plan = planList(descriptionEntity(prefixOf(resourceType)), {
        rpc: "ListDescriptionEntities",
        filters,
        limit,
        token,
        sortBy,
        equal: { project: id.project, domain: id.domain, name: id.name },
        where: [{ sql: "description_entities.resource_type = ANY($$::int[])", value: DESCRIBED }],
      });
      const found = await listDescriptions(db, plan);
      return { descriptionEntities: [...found], token: nextToken(plan, found.length) };
    },
  };
}

function prefixOf(type: ResourceType): "task" | "workflow" | "launch_plan" {
  switch (type) {
    case ResourceType.WORKFLOW:
      return "workflow";
    case ResourceType.LAUNCH_PLAN:
      return "launch_plan";
    default:
      return "task";
  }
}

/** Finds the description of a version; one of the requested kind has precedence. */
async function findDescription(db: Queryable, id: Identifier): Promise<DescriptionEntity | undefined> {
  const { rows } = await db.query<{ entity: Uint8Array }>({
    name: "find-description",
    text: `SELECT entity FROM description_entities
      WHERE resource_type = ANY($1::int[]) AND project = $2 AND domain = $3 AND name = $4 AND version = $5
      ORDER BY resource_type <> $6, resource_type LIMIT 1`,
    values: [DESCRIBED, id.project, id.domain, id.name, id.version, id.resourceType],
  });
  return rows[0] && fromBinary(DescriptionEntitySchema, rows[0].entity);
}

async function listDescriptions(db: Queryable, plan: ListPlan): Promise<readonly DescriptionEntity[]> {
  const { rows } = await db.query<{ entity: Uint8Array }>(selectPage(plan, "entity"));
  return rows.map((row) => fromBinary(DescriptionEntitySchema, row.entity));
}
