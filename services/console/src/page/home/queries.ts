import { queryOptions } from "@tanstack/react-query";
import { executionRow } from "../../api/execution-row.js";
import type { Scope } from "../../api/scope.js";
import type { App } from "../../app/app.js";

const REFRESH_MS = 15_000;
/** Executions that the page counts and draws. */
export const RECENT = 100;
const FAILURES = 20;
const DAY_MS = 86_400_000;
const newestFirst = { key: "created_at", direction: "DESCENDING" } as const;

/** The latest executions of a project and domain. */
export function recentQuery({ api }: Pick<App, "api">, scope: Scope) {
  return queryOptions({
    queryKey: ["recent", scope],
    queryFn: async ({ signal }) => {
      const { executions = [], token = "" } = await api.executions.list(scope, { limit: RECENT, sortBy: newestFirst }, signal);
      return { rows: executions.map(executionRow), isAll: token === "" };
    },
    refetchInterval: REFRESH_MS,
    staleTime: REFRESH_MS,
  });
}

/** Failed executions of the last day, of which `recent` may have none. */
export function failuresQuery({ api, clock }: Pick<App, "api" | "clock">, scope: Scope) {
  return queryOptions({
    queryKey: ["failures", scope],
    queryFn: async ({ signal }) => {
      const since = new Date(clock.now() - DAY_MS).toISOString();
      const filters = `value_in(phase,FAILED;TIMED_OUT)+gte(created_at,${since})`;
      const { executions = [] } = await api.executions.list(scope, { limit: FAILURES, filters, sortBy: newestFirst }, signal);
      return executions.map(executionRow);
    },
    refetchInterval: REFRESH_MS,
    staleTime: REFRESH_MS,
  });
}
