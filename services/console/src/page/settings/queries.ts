import { queryOptions } from "@tanstack/react-query";
import type { Scope } from "../../api/scope.js";
import type { App } from "../../app/app.js";

export function attributesQuery({ api }: Pick<App, "api">, scope: Scope) {
  return queryOptions({
    queryKey: ["settings", "attributes", scope],
    queryFn: ({ signal }) => api.platform.listAttributes(scope, signal),
  });
}

export function retentionQuery({ api }: Pick<App, "api">, scope: Scope) {
  return queryOptions({ queryKey: ["settings", "retention", scope], queryFn: ({ signal }) => api.platform.getRetention(scope, signal) });
}

export function previewQuery({ api }: Pick<App, "api">, scope: Scope) {
  return queryOptions({ queryKey: ["settings", "preview", scope], queryFn: ({ signal }) => api.platform.previewRetention(scope, signal) });
}

export function deliveriesQuery({ api }: Pick<App, "api">, scope: Scope) {
  return queryOptions({
    queryKey: ["settings", "deliveries", scope],
    queryFn: async ({ signal }) => (await api.platform.listDeliveries(scope, signal)).deliveries ?? [],
  });
}
