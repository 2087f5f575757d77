import type { FlyteClient, ServiceClient } from "@flyte-ts/client";
import type { HistoryService } from "@flyte-ts/idl/flytets/admin/v1/history_pb";
import { importAttributes } from "./attributes.js";
import type { ImportConfig } from "./config.js";
import { activateLaunchPlans, importEntities } from "./entities.js";
import { importExecutions } from "./executions.js";
import { importNames } from "./names.js";
import { archiveProjects, importProjects } from "./projects.js";
import { Report } from "./report.js";

/** Source and target of an import. */
export interface Import {
  /** Only its published API is called. */
  readonly from: FlyteClient;
  readonly to: FlyteClient;
  /** The target's service for ended executions. */
  readonly history: ServiceClient<typeof HistoryService>;
  readonly config: Pick<ImportConfig, "projects" | "domains" | "executions" | "activate" | "concurrency">;
  readonly report: Report;
  /** Reports the current step to the user. */
  readonly progress: (text: string) => void;
}

/** A project and domain that both sides have. */
export interface Place {
  readonly project: string;
  readonly domain: string;
}

/**
 * Copies the contents of one admin to another. Skips existing entities, so an interrupted import can be restarted at
 * any time. Starts nothing: schedules fire only for launch plans that become active.
 */
export async function runImport(given: Omit<Import, "report">): Promise<Report> {
  const report = new Report();
  const work: Import = { ...given, report };
  const projects = await importProjects(work);
  await importAttributes(work, projects);
  const places = projects.flatMap(({ project, domains }) => domains.map((domain): Place => ({ project: project.id, domain })));
  // Entities of one project may depend on those of another, so all of them are imported first.
  await importEntities(work, places);
  for (const place of places) await importNames(work, place);
  if (work.config.executions) for (const place of places) await importExecutions(work, place);
  for (const place of places) await activateLaunchPlans(work, place);
  await archiveProjects(work, projects);
  return report;
}
