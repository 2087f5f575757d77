import { queryOptions } from "@tanstack/react-query";
import type { IdentifierJson } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { ExecutionKey } from "../../../api/scope.js";
import type { App } from "../../../app/app.js";

/** Signals of an execution, read again each time a gate is opened. */
export function signalsQuery({ api }: Pick<App, "api">, key: ExecutionKey) {
  return queryOptions({ queryKey: ["signals", key], queryFn: ({ signal }) => api.signals.list(key, signal), staleTime: 0 });
}

/** Workflow that an execution runs, which never changes. */
export function workflowQuery({ api }: Pick<App, "api">, id: IdentifierJson) {
  return queryOptions({ queryKey: ["workflow", id], queryFn: ({ signal }) => api.registry.getWorkflow(id, signal), staleTime: Infinity });
}
