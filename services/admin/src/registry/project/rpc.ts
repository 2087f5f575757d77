import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { LabelsSchema } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { type Project, Project_ProjectState, type ProjectSchema } from "@flyte-ts/idl/flyteidl/admin/project_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import { enqueueSync } from "../../clusters/store/resource-syncs.js";
import type { AdminDeps } from "../../deps.js";
import { checkText } from "../../platform/identifiers.js";
import { alreadyExists, missingArgument, notFound } from "../../platform/rpc-errors.js";
import { planList, selectPage } from "../../platform/list-query/plan.js";
import { nextToken } from "../../platform/list-query/token.js";
import { checkProject } from "./check.js";
import { checkDistinct } from "./distinct.js";
import { projectEntity } from "../store/projects.js";
import { checkNotReserved } from "./reserved.js";
import { findProject, type ProjectRow, type StoredProject, storedProject } from "./require.js";

type Deps = Pick<AdminDeps, "db" | "config" | "clock">;

/** Projects, and the domains that all of them have. */
export function projectRpcs({ db, config, clock }: Deps): ServiceImplementation<typeof AdminService> {
  const domains = config.domains.map(({ id, name }) => ({ id, name }));
  const projectMessage = ({ identifier, name, description, labels, state }: StoredProject): MessageInitShape<typeof ProjectSchema> => ({
    id: identifier,
    name,
    description,
    state,
    domains,
    ...(labels && { labels }),
  });
  return {
    async registerProject({ project }) {
      if (project === undefined) throw missingArgument("project");
      checkText(project.name, "project_name");
      checkProject(project);
      checkNotReserved(project.id, config);
      await db.transaction(async (tx) => {
        await checkDistinct(tx, project.id, config);
        const { rowCount: count } = await tx.query({
          text: `INSERT INTO projects (identifier, name, description, labels, state, created_at, updated_at)
            VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT DO NOTHING`,
          values: [project.id, project.name, project.description, labelBytes(project), project.state, clock()],
        });
        if (count === 0) throw alreadyExists(`project [${project.id}] already exists`);
      });
      await enqueueSync(db, config, { project: project.id });
      return {};
    },

    /** Keeps texts and labels that the request leaves empty; always sets the state. */
    async updateProject(project) {
      checkText(project.id, "project_id");
      if ((await findProject(db, project.id)) === undefined) throw notFound(`project [${project.id}] not found`);
      checkProject(project);
      await db.query({
        text: `UPDATE projects SET name = COALESCE(NULLIF($2, ''), name), description = COALESCE(NULLIF($3, ''), description),
            labels = COALESCE($4, labels), state = $5, updated_at = $6
          WHERE identifier = $1`,
        values: [project.id, project.name, project.description, labelBytes(project), project.state, clock()],
      });
      await enqueueSync(db, config, { project: project.id });
      return {};
    },

    async getProject({ id }) {
      checkText(id, "project_id");
      const project = await findProject(db, id);
      if (project === undefined) throw notFound(`project [${id}] not found`);
      return projectMessage(project);
    },

    /** With authentication, lists only projects in which the caller has a role. */
    async listProjects({ filters, limit, token, sortBy }, { caller }) {
      const hidden = { sql: "projects.state <> $$", value: Project_ProjectState.ARCHIVED };
      const visible = caller?.projects === undefined ? [] : [{ sql: "projects.identifier = ANY($$::text[])", value: caller.projects }];
      const plan = planList(projectEntity, {
        rpc: "ListProjects",
        filters,
        limit,
        token,
        sortBy,
        zeroMeansAll: true,
        where: [...(filters === "" ? [hidden] : []), ...visible],
      });
      const { rows } = await db.query<ProjectRow>(selectPage(plan, "identifier, name, description, labels, state"));
      return { projects: rows.map((row) => projectMessage(storedProject(row))), token: nextToken(plan, rows.length) };
    },

    getDomains: () => ({ domains }),
  };
}

/** Creates missing configured projects; existing ones stay unchanged. */
export async function seedProjects({ db, config, clock }: Deps): Promise<void> {
  await db.query({
    text: `INSERT INTO projects (identifier, name, description, created_at, updated_at)
      SELECT identifier, identifier, identifier || ' description', $2, $2 FROM unnest($1::text[]) AS identifier ON CONFLICT DO NOTHING`,
    values: [config.projects, clock()],
  });
}

function labelBytes({ labels }: Project): Uint8Array | null {
  return labels === undefined ? null : toBinary(LabelsSchema, create(LabelsSchema, labels));
}
