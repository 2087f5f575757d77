import { fromBinary } from "@bufbuild/protobuf";
import { DescriptionEntitySchema } from "@flyte-ts/idl/flyteidl/admin/description_entity_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import type { AdminDeps } from "../deps.js";
import { checkIdentifier, checkNamedEntity, identifierText, resourceTypeName } from "../identifier/check.js";
import { invalidArgument, notFound } from "../invalid.js";
import { baseColumns, type EntityDescription } from "../list/entity.js";
import { planList, selectPage } from "../list/plan.js";
import { nextToken } from "../list/token.js";

/** What ListDescriptionEntities can filter and sort by. Filters may carry the prefix of the described entity. */
function descriptionEntity(prefix: "task" | "workflow" | "launch_plan"): EntityDescription {
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

/** What authors wrote about tasks and workflows; of any kind where the request names none. */
export function descriptionEntityRpcs({ db }: Pick<AdminDeps, "db">): ServiceImplementation<typeof AdminService> {
  return {
    async getDescriptionEntity({ id }) {
      checkIdentifier(id);
      const { rows } = await db.query<{ entity: Uint8Array }>({
        name: "find-description",
        text: `SELECT entity FROM description_entities
          WHERE ($1::int = 0 OR resource_type = $1) AND project = $2 AND domain = $3 AND name = $4 AND version = $5
          ORDER BY resource_type LIMIT 1`,
        values: [id.resourceType, id.project, id.domain, id.name, id.version],
      });
      if (rows[0] === undefined) throw notFound(`no description of ${identifierText(id)}`);
      return fromBinary(DescriptionEntitySchema, rows[0].entity);
    },

    async listDescriptionEntities({ resourceType, id, limit, token, filters, sortBy }) {
      checkNamedEntity(id);
      const entity = descriptionEntity(described(resourceType));
      const plan = planList(entity, {
        rpc: "ListDescriptionEntities",
        filters,
        limit,
        token,
        sortBy,
        equal: {
          ...(resourceType === ResourceType.UNSPECIFIED ? {} : { resource_type: resourceType }),
          project: id.project,
          domain: id.domain,
          name: id.name,
        },
      });
      const { rows } = await db.query<{ entity: Uint8Array }>(selectPage(plan, "entity"));
      return {
        descriptionEntities: rows.map((row) => fromBinary(DescriptionEntitySchema, row.entity)),
        token: nextToken(plan, rows.length),
      };
    },
  };
}

function described(type: ResourceType): "task" | "workflow" | "launch_plan" {
  switch (type) {
    case ResourceType.UNSPECIFIED:
    case ResourceType.TASK:
      return "task";
    case ResourceType.WORKFLOW:
      return "workflow";
    case ResourceType.LAUNCH_PLAN:
      return "launch_plan";
    default:
      throw invalidArgument(`invalid value for resource_type: ${resourceTypeName(type)} has no descriptions`);
  }
}
