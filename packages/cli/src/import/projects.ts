import { type Project, Project_ProjectState } from "@flyte-ts/idl/flyteidl/admin/project_pb";
import { Code } from "@flyte-ts/client";
import { paginate, isCode, retryWhileUnavailable, permanentErrorMessage } from "./admin-calls.js";
import type { ImportContext } from "./run-import.js";

/** A project of the source, with the requested domains that the target also has. */
export interface ImportedProject {
  readonly project: Project;
  readonly domains: readonly string[];
}

/** Archived projects are listed only with this filter. */
const ANY_STATE_FILTER = `value_in(state,${Project_ProjectState.ACTIVE};${Project_ProjectState.ARCHIVED};${Project_ProjectState.SYSTEM_GENERATED};${Project_ProjectState.SYSTEM_ARCHIVED})`;

export async function importProjects({ from, to, config, report, progress }: ImportContext): Promise<ImportedProject[]> {
  const targetDomains = new Set((await retryWhileUnavailable(() => to.admin.getDomains({}))).domains.map(({ id }) => id));
  const projects: ImportedProject[] = [];
  const listed = paginate(
    (page) => from.admin.listProjects({ ...page, filters: ANY_STATE_FILTER }),
    (answer) => answer.projects,
  );
  for await (const project of listed) {
    const { id, name, description, labels } = project;
    if (config.projects !== undefined && !config.projects.includes(id)) continue;
    progress(`project ${id}`);
    try {
      await retryWhileUnavailable(() => to.admin.registerProject({ project: { id, name, description, ...(labels && { labels }) } }));
      report.record("project", "imported");
    } catch (error) {
      if (!isCode(error, Code.ALREADY_EXISTS)) {
        report.skip({ kind: "project", what: id, why: permanentErrorMessage(error) });
        continue;
      }
      report.record("project", "there");
      // An earlier import archived the project when it ended. Activate it again, because an
      // archived project accepts no registrations.
      if (project.state === Project_ProjectState.ARCHIVED) await setState(to, project, Project_ProjectState.ACTIVE);
    }
    const domains: string[] = [];
    for (const { id: domain } of project.domains) {
      if (config.domains !== undefined && !config.domains.includes(domain)) continue;
      if (targetDomains.has(domain)) domains.push(domain);
      else
        report.skip({
          kind: "domain",
          what: `${id}/${domain}`,
          why: "the target has no such domain: name it in `domains` of its configuration",
        });
    }
    projects.push({ project, domains });
  }
  for (const wanted of config.projects ?? []) {
    if (!projects.some(({ project }) => project.id === wanted))
      report.skip({ kind: "project", what: wanted, why: "the source has no project of this name" });
  }
  return projects;
}

/** Runs last: an archived project accepts no registrations. */
export async function archiveProjects({ to }: ImportContext, projects: readonly ImportedProject[]): Promise<void> {
  for (const { project } of projects) {
    if (project.state === Project_ProjectState.ARCHIVED) await setState(to, project, Project_ProjectState.ARCHIVED);
  }
}

async function setState(to: ImportContext["to"], { id, name, description, labels }: Project, state: Project_ProjectState): Promise<void> {
  await retryWhileUnavailable(() => to.admin.updateProject({ id, name, description, ...(labels && { labels }), state }));
}
