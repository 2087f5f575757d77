import type { FlyteClient, ServiceClient } from "@flyte-ts/client";
import type { HistoryService } from "@flyte-ts/idl/flytets/admin/v1/history_pb";
import { importAttributes } from "./attributes.js";
import type { ImportConfig } from "./config.js";
import { activateLaunchPlans, importEntities } from "./entities.js";
import { importExecutions } from "./executions.js";
import { importNames } from "./names.js";
import { archiveProjects, importProjects } from "./projects.js";
import { ImportReport } from "./report.js";

/** Source and target of an import. */
export interface ImportContext {
  /** Only its published API is called. */
  readonly from: FlyteClient;
  readonly to: FlyteClient;
  /** The target's service for ended executions. */
  readonly history: ServiceClient<typeof HistoryService>;
  readonly config: Pick<ImportConfig, "projects" | "domains" | "executions" | "activate" | "concurrency">;
  readonly report: ImportReport;
  /** Reports the current step to the user. */
  readonly progress: (text: string) => void;
}

/** A project and domain that both sides have. */
export interface ProjectDomain {
  readonly project: string;
  readonly domain: string;
}

/**
 * Copies the contents of one admin to another. Skips existing entities, so an interrupted import
 * can be restarted at any time. Starts nothing: schedules fire only for launch plans that become
 * active.
 */
export async function runImport(options: Omit<ImportContext, "report">): Promise<ImportReport> {
  const report = new ImportReport();
  const context: ImportContext = { ...options, report };
  const projects = await importProjects(context);
  await importAttributes(context, projects);
  const projectDomains = projects.flatMap(({ project, domains }) =>
    domains.map((domain): ProjectDomain => ({ project: project.id, domain })),
  );
  // Entities of one project may depend on those of another, so all of them are imported first.
  await importEntities(context, projectDomains);
  for (const projectDomain of projectDomains) await importNames(context, projectDomain);
  if (context.config.executions) for (const projectDomain of projectDomains) await importExecutions(context, projectDomain);
  for (const projectDomain of projectDomains) await activateLaunchPlans(context, projectDomain);
  await archiveProjects(context, projects);
  return report;
}
