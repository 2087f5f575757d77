import type { MessageInitShape } from "@bufbuild/protobuf";
import { Project_ProjectState, type ProjectSchema } from "@flyte-ts/idl/flyteidl/admin/project_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import type { RegistryDeps } from "../deps.js";
import { alreadyExists, checkText, missingArgument, nextToken, notFound, planList } from "../../platform/index.js";
import { checkProject } from "./check.js";
import { checkDistinct } from "./distinct.js";
import {
  findProject,
  insertMissingProjects,
  insertProject,
  listProjects,
  projectEntity,
  type StoredProject,
  updateProject,
} from "../store/projects.js";
import { checkNotReserved } from "./reserved-names.js";

type Deps = Pick<RegistryDeps, "db" | "config" | "clock" | "onScopeChanged">;

/** Projects, and the domains that all of them have. */
export function projectRpcs({ db, config, clock, onScopeChanged }: Deps): ServiceImplementation<typeof AdminService> {
  const domains = config.domains.map(({ id, name }) => ({ id, name }));
  const projectMessage = ({ identifier, ...stored }: StoredProject): MessageInitShape<typeof ProjectSchema> => ({
    id: identifier,
    ...stored,
    domains,
  });
  return {
    async registerProject({ project }) {
      if (project === undefined) throw missingArgument("project");
      checkText(project.name, "project_name");
      checkProject(project);
      checkNotReserved(project.id, config);
      await db.transaction(async (tx) => {
        await checkDistinct(tx, project.id, config);
        if (!(await insertProject(tx, project, clock()))) throw alreadyExists(`project [${project.id}] already exists`);
      });
      await onScopeChanged?.({ project: project.id });
      return {};
    },

    /** Keeps texts and labels that the request leaves empty; always sets the state. */
    async updateProject(project) {
      checkText(project.id, "project_id");
      if ((await findProject(db, project.id)) === undefined) throw notFound(`project [${project.id}] not found`);
      checkProject(project);
      await updateProject(db, project, clock());
      await onScopeChanged?.({ project: project.id });
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
      const found = await listProjects(db, plan);
      return { projects: found.map(projectMessage), token: nextToken(plan, found.length) };
    },

    getDomains: () => ({ domains }),
  };
}

/** Creates missing configured projects; existing ones stay unchanged. */
export async function seedProjects({ db, config, clock }: Deps): Promise<void> {
  await insertMissingProjects(db, config.projects, clock());
}
