import type { ExecutionListJson } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { executionRow } from "../../api/execution-row.js";
import { executionsPage, newestPage } from "../../api/list-pages.js";
import type { Scope } from "../../api/scope.js";
import type { ExecutionsSearch } from "../../route/executions-search.js";
import type { App } from "../../app/app.js";

/** Interval at which the page looks for new executions. */
const REFRESH_MS = 10_000;

const rowsOf = ({ executions = [], token = "" }: ExecutionListJson) => ({ rows: executions.map(executionRow), token });

/** Executions of a project and domain by the filters of the address, page by page. */
export function executionsQuery({ api, clock }: Pick<App, "api" | "clock">, scope: Scope, search: ExecutionsSearch) {
  return infiniteQueryOptions({
    queryKey: ["executions", scope, search],
    initialPageParam: "",
    queryFn: async ({ pageParam, signal }) => {
      const page = { ...executionsPage(search, clock.now()), ...(pageParam !== "" && { token: pageParam }) };
      return rowsOf(await api.executions.list(scope, page, signal));
    },
    getNextPageParam: ({ token }) => (token === "" ? undefined : token),
    // The query of the newest tells of changes: pages are read once.
    staleTime: Infinity,
    gcTime: 60_000,
  });
}

/** The newest executions by the same filters, again and again while the page is looked at. */
export function newestQuery({ api, clock }: Pick<App, "api" | "clock">, scope: Scope, search: ExecutionsSearch) {
  return queryOptions({
    queryKey: ["newest executions", scope, search],
    queryFn: async ({ signal }) => rowsOf(await api.executions.list(scope, newestPage(search, clock.now()), signal)).rows,
    refetchInterval: REFRESH_MS,
    staleTime: REFRESH_MS,
  });
}
