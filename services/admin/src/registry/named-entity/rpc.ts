import type { Queryable } from "@flyte-ts/postgres";
import type { ListPlan } from "../../platform/list-query/plan.js";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type NamedEntitySchema, NamedEntityState } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import type { AdminDeps } from "../../deps.js";
import { checkNamedEntity, checkText, resourceTypeName } from "../../platform/identifiers.js";
import { invalidArgument, missingArgument, notFound } from "../../platform/rpc-errors.js";
import { planList, selectPage } from "../../platform/list-query/plan.js";
import { nextToken } from "../../platform/list-query/token.js";
import { namedEntityEntity } from "../store/named-entity-list-entity.js";

export interface NamedEntityRow {
  resource_type: ResourceType;
  project: string;
  domain: string;
  name: string;
  description: string;
  state: NamedEntityState;
}

const MAX_DESCRIPTION = 300;
const columns = "resource_type, project, domain, name, description, state";

/** Names of tasks, workflows and launch plans, with their description and state. */
export function namedEntityRpcs({ db, clock }: Pick<AdminDeps, "db" | "clock">): ServiceImplementation<typeof AdminService> {
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

export interface NamedEntityKey {
  readonly resourceType: ResourceType;
  readonly project: string;
  readonly domain: string;
  readonly name: string;
}

async function findNamedEntity(
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

/** Keeps the stored description when the given one is empty. Returns false when there is no such name. */
async function updateNamedEntity(
  db: Queryable,
  { resourceType, project, domain, name }: NamedEntityKey,
  { description, state, now }: { readonly description: string; readonly state: NamedEntityState; readonly now: Date },
): Promise<boolean> {
  const { rowCount: count } = await db.query({
    text: `UPDATE named_entities SET description = COALESCE(NULLIF($5, ''), description), state = $6, updated_at = $7
      WHERE resource_type = $1 AND project = $2 AND domain = $3 AND name = $4`,
    values: [resourceType, project, domain, name, description, state, now],
  });
  return count > 0;
}

async function listNamedEntities(db: Queryable, plan: ListPlan): Promise<readonly NamedEntityRow[]> {
  return (await db.query<NamedEntityRow>(selectPage(plan, columns))).rows;
}
