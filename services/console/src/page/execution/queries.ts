import type { NodeExecutionJson } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { executionRow } from "../../api/execution-row.js";
import type { ExecutionKey } from "../../api/scope.js";
import type { App } from "../../app/app.js";

const REFRESH_MS = 3_000;
/** Failed nodes that are read: an error that more have is the same error. */
const MAX_FAILED = 500;
const NODES_PAGE = 200;

/** An execution; it is read again until it has ended. */
export function executionQuery({ api }: Pick<App, "api">, key: ExecutionKey) {
  return queryOptions({
    queryKey: ["execution", key],
    queryFn: async ({ signal }) => {
      const execution = await api.executions.get(key, signal);
      return { execution, row: executionRow(execution) };
    },
    refetchInterval: ({ state }) => (state.data?.row.look.terminal === true ? false : REFRESH_MS),
  });
}

/** Nodes of an execution that failed; `ended` keeps them from being read again. */
export function failedNodesQuery({ api }: Pick<App, "api">, key: ExecutionKey, ended: boolean) {
  return queryOptions({
    queryKey: ["failed nodes", key, ended],
    queryFn: async ({ signal }): Promise<readonly NodeExecutionJson[]> => {
      const page = { limit: MAX_FAILED, filters: "value_in(phase,FAILED;TIMED_OUT;FAILING)" };
      return (await api.executions.listNodes(key, page, signal)).nodeExecutions ?? [];
    },
    staleTime: ended ? Infinity : REFRESH_MS,
  });
}

/** Nodes of an execution in the order of their creation. */
export function nodesQuery({ api }: Pick<App, "api">, key: ExecutionKey, ended: boolean) {
  return infiniteQueryOptions({
    queryKey: ["nodes", key, ended],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const page = { limit: NODES_PAGE, sortBy: { key: "created_at", direction: "ASCENDING" } as const };
      return api.executions.listNodes(key, { ...page, ...(pageParam !== "" && { token: pageParam }) }, signal);
    },
    getNextPageParam: ({ token = "" }) => (token === "" ? undefined : token),
    refetchInterval: ended ? false : REFRESH_MS,
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
    staleTime: Infinity,
  });
}

/** Attempts of a node. */
export function attemptsQuery({ api }: Pick<App, "api">, key: ExecutionKey, node: string) {
  return queryOptions({
    queryKey: ["attempts", key, node],
    queryFn: async ({ signal }) => (await api.executions.listAttempts(key, node, signal)).taskExecutions ?? [],
  });
}
