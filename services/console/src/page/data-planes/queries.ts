import { queryOptions } from "@tanstack/react-query";
import type { Scope } from "../../api/scope.js";
import type { App } from "../../app/app.js";

const REFRESH_MS = 10_000;
const MINUTE_MS = 60_000;

export function clustersQuery({ api }: Pick<App, "api">) {
  return queryOptions({
    queryKey: ["clusters"],
    queryFn: ({ signal }) => api.platform.listClusters(signal),
    refetchInterval: REFRESH_MS,
    staleTime: REFRESH_MS,
  });
}

export function clusterResourcesQuery({ api }: Pick<App, "api">, scope: Scope) {
  return queryOptions({
    queryKey: ["cluster-resources", scope],
    queryFn: ({ signal }) => api.platform.listClusterResources(scope, signal),
    staleTime: REFRESH_MS,
  });
}

export function agentsQuery({ api }: Pick<App, "api">) {
  return queryOptions({ queryKey: ["agents"], queryFn: ({ signal }) => api.platform.listAgents(signal), staleTime: MINUTE_MS });
}

/** Open executions that cannot continue, with their reasons. */
export function waitsQuery({ api }: Pick<App, "api">, scope: Scope) {
  return queryOptions({
    queryKey: ["overview", scope, "waits"],
    queryFn: async ({ signal }) => (await api.overview.get(scope, 1, signal)).waits ?? [],
    refetchInterval: REFRESH_MS,
    staleTime: REFRESH_MS,
  });
}
