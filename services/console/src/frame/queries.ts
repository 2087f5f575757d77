import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { namesPage } from "../api/list-pages.js";
import type { Scope } from "../api/scope.js";
import type { EntityKind } from "../api/registry-api.js";
import type { App } from "../app/app.js";

const MINUTE_MS = 60_000;

export function projectsQuery({ api }: Pick<App, "api">) {
  return queryOptions({ queryKey: ["projects"], queryFn: ({ signal }) => api.access.listProjects(signal), staleTime: MINUTE_MS });
}

export function accessQuery({ api }: Pick<App, "api">, scope: Scope) {
  return queryOptions({
    queryKey: ["access", scope],
    queryFn: ({ signal }) => api.access.getMyAccess(scope, signal),
    staleTime: 5 * MINUTE_MS,
  });
}

/** Names of all entities of a kind in a project and domain. */
export function namesQuery({ api }: Pick<App, "api">, scope: Scope, kind: EntityKind) {
  return queryOptions({
    queryKey: ["names", scope, kind],
    queryFn: ({ signal }) => api.registry.listNames(kind, scope, namesPage, signal),
    staleTime: MINUTE_MS,
  });
}

/** Names in a project and domain that contain all words of a text. */
export function searchQuery({ api }: Pick<App, "api">, scope: Scope, text: string) {
  return queryOptions({
    queryKey: ["search", scope, text],
    queryFn: ({ signal }) => api.overview.search(scope, text, signal),
    staleTime: MINUTE_MS,
    placeholderData: keepPreviousData,
  });
}
