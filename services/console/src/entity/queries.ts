import { queryOptions } from "@tanstack/react-query";
import { executionRow } from "../api/execution-row.js";
import type { EntityKind } from "../api/registry-api.js";
import type { ListQuery, Scope } from "../api/scope.js";
import type { App } from "../app/app.js";
import { term } from "../route/filter-expression.js";

const RECENT = 100;
const VERSIONS = 200;
/** Maximum of active launch plans that a page reads. */
export const MAX_ACTIVE_PLANS = 1_000;
const REFRESH_MS = 15_000;
const newestFirst = { key: "created_at", direction: "DESCENDING" } as const;
const versions: ListQuery = { limit: VERSIONS, sortBy: newestFirst };

/** Latest executions of a workflow, a launch plan or a task that was run alone; or of all. */
export function runsQuery({ api }: Pick<App, "api">, scope: Scope, of?: { readonly kind: EntityKind; readonly name: string }) {
  return queryOptions({
    queryKey: ["runs", scope, of],
    queryFn: async ({ signal }) => {
      const filters = of === undefined ? undefined : term("eq", `${of.kind}.name`, of.name);
      return ((await api.executions.list(scope, { limit: RECENT, filters, sortBy: newestFirst }, signal)).executions ?? []).map(
        executionRow,
      );
    },
    refetchInterval: REFRESH_MS,
    staleTime: REFRESH_MS,
  });
}

/** Launch plans that are active in a project and domain. */
export function activePlansQuery({ api }: Pick<App, "api">, scope: Scope) {
  return queryOptions({
    queryKey: ["active launch plans", scope],
    queryFn: async ({ signal }) => (await api.registry.listActiveLaunchPlans(scope, { limit: MAX_ACTIVE_PLANS }, signal)).launchPlans ?? [],
  });
}

/** Versions of a workflow, newest first. */
export function workflowVersionsQuery({ api }: Pick<App, "api">, scope: Scope, name: string) {
  return queryOptions({
    queryKey: ["workflow versions", scope, name],
    queryFn: async ({ signal }) => (await api.registry.listWorkflows(scope, name, versions, signal)).workflows ?? [],
  });
}

/** Versions of a task, newest first. */
export function taskVersionsQuery({ api }: Pick<App, "api">, scope: Scope, name: string) {
  return queryOptions({
    queryKey: ["task versions", scope, name],
    queryFn: async ({ signal }) => (await api.registry.listTasks(scope, name, versions, signal)).tasks ?? [],
  });
}

/** Versions of a launch plan, newest first. */
export function planVersionsQuery({ api }: Pick<App, "api">, scope: Scope, name: string) {
  return queryOptions({
    queryKey: ["launch plan versions", scope, name],
    queryFn: async ({ signal }) => (await api.registry.listLaunchPlans(scope, name, versions, signal)).launchPlans ?? [],
  });
}

/** Launch plans of a workflow in all their versions, newest first. */
export function workflowPlansQuery({ api }: Pick<App, "api">, scope: Scope, workflow: string) {
  return queryOptions({
    queryKey: ["launch plans of a workflow", scope, workflow],
    queryFn: async ({ signal }) => {
      const page = { ...versions, filters: term("eq", "workflow.name", workflow) };
      return (await api.registry.listLaunchPlans(scope, undefined, page, signal)).launchPlans ?? [];
    },
  });
}
