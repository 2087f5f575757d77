import { queryOptions } from "@tanstack/react-query";
import type { Scope } from "../../api/scope.js";
import type { App } from "../../app/app.js";

const REFRESH_MS = 15_000;
const fresh = { refetchInterval: REFRESH_MS, staleTime: REFRESH_MS };

export function nextRunsQuery({ api }: Pick<App, "api">, scope: Scope) {
  return queryOptions({
    queryKey: ["automation", scope, "next runs"],
    queryFn: async ({ signal }) => (await api.automation.listNextRuns(scope, signal)).runs ?? [],
    ...fresh,
  });
}

export function triggersQuery({ api }: Pick<App, "api">, scope: Scope) {
  return queryOptions({
    queryKey: ["automation", scope, "triggers"],
    queryFn: async ({ signal }) => (await api.automation.listTriggers(scope, signal)).triggers ?? [],
    ...fresh,
  });
}

export function firingsQuery({ api }: Pick<App, "api">, scope: Scope) {
  return queryOptions({
    queryKey: ["automation", scope, "firings"],
    queryFn: async ({ signal }) => (await api.automation.listFirings(scope, signal)).firings ?? [],
    ...fresh,
  });
}
