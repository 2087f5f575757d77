import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { checkIdentifier, checkNamedEntity, identifierText, nextToken, notFound, planList } from "../../platform/index.js";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import type { RegistryDeps } from "../deps.js";
import { DESCRIBED, descriptionEntity, findDescription, listDescriptions } from "../store/descriptions.js";

/**
 * Descriptions of tasks and workflows. As in Flyte, a description of any kind with the name is
 * returned; among several, one of the requested kind has precedence.
 */
export function descriptionEntityRpcs({ db }: Pick<RegistryDeps, "db">): ServiceImplementation<typeof AdminService> {
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
