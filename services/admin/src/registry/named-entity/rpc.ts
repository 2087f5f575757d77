import {
  checkNamedEntity,
  checkText,
  invalidArgument,
  missingArgument,
  nextToken,
  notFound,
  planList,
  resourceTypeName,
} from "../../platform/index.js";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type NamedEntitySchema, NamedEntityState } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import type { RegistryDeps } from "../deps.js";
import { findNamedEntity, listNamedEntities, namedEntityEntity, type NamedEntityRow, updateNamedEntity } from "../store/named-entities.js";

const MAX_DESCRIPTION = 300;
/** Names of tasks, workflows and launch plans, with their description and state. */
export function namedEntityRpcs({ db, clock }: Pick<RegistryDeps, "db" | "clock">): ServiceImplementation<typeof AdminService> {
  return {
    async getNamedEntity({ resourceType, id }) {
      checkResourceType(resourceType);
      checkNamedEntity(id);
      const row = await findNamedEntity(db, { resourceType, ...id });
      if (row === undefined) throw entityNotFound(resourceType, id.name);
      return namedEntityMessage(row);
    },

    /** Keeps the old description when the new one is empty; always sets the state. */
    async updateNamedEntity({ resourceType, id, metadata }) {
      checkResourceType(resourceType);
      checkNamedEntity(id);
      if (metadata === undefined) throw missingArgument("metadata");
      const { description, state } = metadata;
      if (description.includes("\0")) throw invalidArgument("invalid value for description: NUL characters are not allowed");
      if (Array.from(description).length > MAX_DESCRIPTION)
        throw invalidArgument(`description cannot exceed ${MAX_DESCRIPTION} characters`);
      if (NamedEntityState[state] === undefined) throw invalidArgument(`invalid value for state: ${state} is unknown`);
      const updated = await updateNamedEntity(db, { resourceType, ...id }, { description, state, now: clock() });
      if (!updated) throw entityNotFound(resourceType, id.name);
      return {};
    },

    /** Without filters, generated names are excluded. */
    async listNamedEntities({ resourceType, project, domain, limit, token, sortBy, filters }) {
      checkText(project, "project");
      checkText(domain, "domain");
      checkResourceType(resourceType);
      const plan = planList(namedEntityEntity, {
        rpc: "ListNamedEntities",
        filters: filters === "" ? "not_like(name,.flytegen%)" : filters,
        limit,
        token,
        sortBy,
        equal: { resource_type: resourceType, project, domain },
      });
      const rows = await listNamedEntities(db, plan);
      return { entities: rows.map(namedEntityMessage), token: nextToken(plan, rows.length) };
    },
  };
}

function namedEntityMessage({
  resource_type: resourceType,
  project,
  domain,
  name,
  description,
  state,
}: NamedEntityRow): MessageInitShape<typeof NamedEntitySchema> {
  return { resourceType, id: { project, domain, name }, metadata: { description, state } };
}

function entityNotFound(type: ResourceType, name: string): Error {
  return notFound(`entry not found: ${resourceTypeName(type)} ${name}`);
}

function checkResourceType(type: ResourceType): void {
  switch (type) {
    case ResourceType.TASK:
    case ResourceType.WORKFLOW:
    case ResourceType.LAUNCH_PLAN:
      return;
    default:
      throw invalidArgument(`invalid value for resource_type: ${resourceTypeName(type)} has no named entities`);
  }
}
