import type { ExecutionListJson } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { executionRow } from "../../api/execution-row.js";
import type { ListQuery, Scope } from "../../api/scope.js";
import type { ExecutionsSearch } from "../../route/executions-search.js";
import { executionFilters } from "../../route/filter-expression.js";
import type { App } from "../../app/app.js";

export const PAGE_SIZE = 100;
/** Executions that the page looks for anew, and how often. */
const NEWEST = 30;
const REFRESH_MS = 10_000;

const ORDERS: Readonly<Record<ExecutionsSearch["order"], ListQuery["sortBy"] & {}>> = {
  newest: { key: "created_at", direction: "DESCENDING" },
  oldest: { key: "created_at", direction: "ASCENDING" },
  longest: { key: "duration", direction: "DESCENDING" },
};

const rowsOf = ({ executions = [], token = "" }: ExecutionListJson) => ({ rows: executions.map(executionRow), token });

/** Executions of a project and domain by the filters of the address, page by page. */
export function executionsQuery({ api, clock }: Pick<App, "api" | "clock">, scope: Scope, search: ExecutionsSearch) {
  return infiniteQueryOptions({
    queryKey: ["executions", scope, search],
    initialPageParam: "",
    queryFn: async ({ pageParam, signal }) => {
      const filters = executionFilters(search, clock.now());
      const page = { limit: PAGE_SIZE, filters, sortBy: ORDERS[search.order], ...(pageParam !== "" && { token: pageParam }) };
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
    queryFn: async ({ signal }) => {
      const page = { limit: NEWEST, filters: executionFilters(search, clock.now()), sortBy: ORDERS.newest };
      return rowsOf(await api.executions.list(scope, page, signal)).rows;
    },
    refetchInterval: REFRESH_MS,
    staleTime: REFRESH_MS,
  });
}
