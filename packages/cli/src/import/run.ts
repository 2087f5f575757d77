import type { FlyteClient, ServiceClient } from "@flyte-ts/client";
import type { HistoryService } from "@flyte-ts/idl/flytets/admin/v1/history_pb";
import { importAttributes } from "./attributes.js";
import type { ImportConfig } from "./config.js";
import { activateLaunchPlans, importEntities } from "./entities.js";
import { importExecutions } from "./executions.js";
import { importNames } from "./names.js";
import { archiveProjects, importProjects } from "./projects.js";
import { Report } from "./report.js";

/** The two sides of an import. */
export interface Import {
  /** Only its published API is called. */
  readonly from: FlyteClient;
  readonly to: FlyteClient;
  /** Of the target, for what has run. */
  readonly history: ServiceClient<typeof HistoryService>;
  readonly config: Pick<ImportConfig, "projects" | "domains" | "executions" | "activate" | "concurrency">;
  readonly report: Report;
  /** Told of what has begun, for people. */
  readonly progress: (text: string) => void;
}

/** A project and domain that both sides have. */
export interface Place {
  readonly project: string;
  readonly domain: string;
}

/**
 * Brings what one admin holds to another. What is there already stays as it is, so an import may be broken off and begun again
 * at any time. Nothing is started: schedules only fire for launch plans that become active.
 */
export async function runImport(given: Omit<Import, "report">): Promise<Report> {
  const report = new Report();
  const work: Import = { ...given, report };
  const projects = await importProjects(work);
  await importAttributes(work, projects);
  const places = projects.flatMap(({ project, domains }) => domains.map((domain): Place => ({ project: project.id, domain })));
  // Entities of one project may be made of those of another, so all of them come before anything else.
  await importEntities(work, places);
  for (const place of places) await importNames(work, place);
  if (work.config.executions) for (const place of places) await importExecutions(work, place);
  for (const place of places) await activateLaunchPlans(work, place);
  await archiveProjects(work, projects);
  return report;
}
