import { queryOptions } from "@tanstack/react-query";
import { executionRow } from "../../api/execution-row.js";
import type { ExecutionKey } from "../../api/scope.js";
import type { App } from "../../app/app.js";
import { isGiven } from "../../format/given.js";
import { nodePhaseLook } from "../../format/phase.js";

const REFRESH_MS = 3_000;

/** An execution; its page reads it again when the stream of its nodes reports a change. */
export function executionQuery({ api }: Pick<App, "api">, key: ExecutionKey) {
  return queryOptions({
    queryKey: ["execution", key],
    queryFn: async ({ signal }) => {
      const execution = await api.executions.get(key, signal);
      return { execution, row: executionRow(execution) };
    },
    staleTime: Infinity,
  });
}

/** Errors of an execution's nodes; `ended` keeps them from being read again. */
export function errorGroupsQuery({ api }: Pick<App, "api">, key: ExecutionKey, ended: boolean) {
  return queryOptions({
    queryKey: ["errors", key, ended],
    queryFn: ({ signal }) => api.executions.getErrorGroups(key, signal),
    staleTime: ended ? Infinity : REFRESH_MS,
  });
}

/** Inputs, and outputs once it has succeeded. */
export function dataQuery({ api }: Pick<App, "api">, key: ExecutionKey, ended: boolean) {
  return queryOptions({
    queryKey: ["data", key, ended],
    queryFn: ({ signal }) => api.executions.getData(key, signal),
    staleTime: Infinity,
  });
}

/** A node with its error in full. */
export function nodeQuery({ api }: Pick<App, "api">, key: ExecutionKey, node: string) {
  return queryOptions({
    queryKey: ["node", key, node],
    queryFn: ({ signal }) => api.executions.getNode(key, node, signal),
    staleTime: ({ state }) => (nodePhaseLook(state.data?.closure?.phase).terminal ? Infinity : REFRESH_MS),
  });
}

/** Attempts of a node. */
export function attemptsQuery({ api }: Pick<App, "api">, key: ExecutionKey, node: string) {
  return queryOptions({
    queryKey: ["attempts", key, node],
    queryFn: async ({ signal }) => (await api.executions.listAttempts(key, node, signal)).attempts ?? [],
  });
}

/** Inputs and outputs of a node. */
export function nodeDataQuery({ api }: Pick<App, "api">, key: ExecutionKey, node: string) {
  return queryOptions({
    queryKey: ["node data", key, node],
    queryFn: ({ signal }) => api.executions.getNodeData(key, node, signal),
    // Without outputs it may be of a node that has not ended.
    staleTime: ({ state }) => (isGiven(state.data?.fullOutputs) ? Infinity : REFRESH_MS),
  });
}
