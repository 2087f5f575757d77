import { queryOptions } from "@tanstack/react-query";
import { executionRow } from "../api/execution-row.js";
import {
  activePlansPage,
  activeVersionPage,
  type EntityName,
  oneVersionPage,
  runsPage,
  versionsPage,
  workflowPlansPage,
} from "../api/list-pages.js";
import type { ListQuery, Scope } from "../api/scope.js";
import type { App } from "../app/app.js";
import { isActive } from "./schedule-text.js";

const REFRESH_MS = 15_000;

/** Latest executions of a workflow, a launch plan or a task that was run alone; or of all. */
export function runsQuery({ api }: Pick<App, "api">, scope: Scope, of?: EntityName) {
  return queryOptions({
    queryKey: ["runs", scope, of],
    queryFn: async ({ signal }) => ((await api.executions.list(scope, runsPage(of), signal)).executions ?? []).map(executionRow),
    refetchInterval: REFRESH_MS,
    staleTime: REFRESH_MS,
  });
}

/** Launch plans that are active in a project and domain. */
export function activePlansQuery({ api }: Pick<App, "api">, scope: Scope) {
  return queryOptions({
    queryKey: ["active launch plans", scope],
    queryFn: async ({ signal }) => (await api.registry.listActiveLaunchPlans(scope, activePlansPage, signal)).launchPlans ?? [],
  });
}

/** Versions of a workflow, newest first. */
export function workflowVersionsQuery({ api }: Pick<App, "api">, scope: Scope, name: string) {
  return queryOptions({
    queryKey: ["workflow versions", scope, name],
    queryFn: async ({ signal }) => (await api.registry.listWorkflows(scope, name, versionsPage, signal)).workflows ?? [],
  });
}

/** Versions of a task, newest first. */
export function taskVersionsQuery({ api }: Pick<App, "api">, scope: Scope, name: string) {
  return queryOptions({
    queryKey: ["task versions", scope, name],
    queryFn: async ({ signal }) => (await api.registry.listTasks(scope, name, versionsPage, signal)).tasks ?? [],
  });
}

/** Versions of a launch plan, newest first. */
export function planVersionsQuery({ api }: Pick<App, "api">, scope: Scope, name: string) {
  return queryOptions({
    queryKey: ["launch plan versions", scope, name],
    queryFn: async ({ signal }) => {
      const list = async (page: ListQuery) => (await api.registry.listLaunchPlans(scope, name, page, signal)).launchPlans ?? [];
      const versions = await list(versionsPage);
      // The active version may be older than all that are listed.
      const isKnown = versions.length < versionsPage.limit || versions.some(isActive);
      return isKnown ? versions : [...versions, ...(await list(activeVersionPage))];
    },
  });
}

/** Launch plans of a workflow in all their versions, newest first. */
export function workflowPlansQuery({ api }: Pick<App, "api">, scope: Scope, workflow: string) {
  return queryOptions({
    queryKey: ["launch plans of a workflow", scope, workflow],
    queryFn: async ({ signal }) =>
      (await api.registry.listLaunchPlans(scope, undefined, workflowPlansPage(workflow), signal)).launchPlans ?? [],
  });
}

/** One version of what is launched, which may be older than those that are listed. */
export function oneVersionQuery({ api: { registry } }: Pick<App, "api">, scope: Scope, entity: EntityName, version: string) {
  return queryOptions({
    queryKey: ["one version", scope, entity, version],
    queryFn: async ({ signal }) => {
      const page = oneVersionPage(entity, version);
      if (entity.kind === "task") return { plans: [], tasks: (await registry.listTasks(scope, entity.name, page, signal)).tasks ?? [] };
      const name = entity.kind === "workflow" ? undefined : entity.name;
      return { plans: (await registry.listLaunchPlans(scope, name, page, signal)).launchPlans ?? [], tasks: [] };
    },
  });
}
