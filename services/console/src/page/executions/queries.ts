import type { ExecutionListJson } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { executionRow } from "../../api/execution-row.js";
import { executionsPage, namedPage, newestPage } from "../../api/list-pages.js";
import type { Scope } from "../../api/scope.js";
import type { ExecutionsSearch } from "../../route/executions-search.js";
import type { App } from "../../app/app.js";
import { openNames, replaceRows } from "./merge-rows.js";

/** Interval at which the page looks for new executions. */
const REFRESH_MS = 10_000;

/** Maximum of rows whose state is read again at once. */
const MAX_OPEN = 100;

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
    // Other queries tell of changes: pages are read once.
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

/**
 * Reads the rows of the list that have not ended again and again, in any order of the list, and
 * puts their state into it. A filter by phase would leave those out that end. Resolves to their
 * number.
 */
export function openRowsQuery(app: Pick<App, "api" | "clock">, scope: Scope, search: ExecutionsSearch) {
  const { queryKey: listKey } = executionsQuery(app, scope, search);
  return queryOptions({
    queryKey: ["open executions", scope, search],
    queryFn: async ({ signal, client }) => {
      const pages = client.getQueryData(listKey)?.pages ?? [];
      const names = openNames(
        pages.map(({ rows }) => rows),
        MAX_OPEN,
      );
      if (names.length === 0) return 0;
      const { rows } = rowsOf(await app.api.executions.list(scope, namedPage(names), signal));
      client.setQueryData(listKey, (list) => list && { ...list, pages: replaceRows(list.pages, rows) });
      return names.length;
    },
    refetchInterval: REFRESH_MS,
    staleTime: REFRESH_MS,
  });
}
