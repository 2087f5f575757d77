import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { Scope } from "../../api/scope.js";
import type { App } from "../../app/app.js";
import { type HomeSearch, PERIOD_HOURS } from "../../route/list-search.js";

const REFRESH_MS = 15_000;

/** State of a project and domain. */
export function overviewQuery({ api }: Pick<App, "api">, scope: Scope, period: HomeSearch["period"]) {
  return queryOptions({
    queryKey: ["overview", scope, period],
    queryFn: ({ signal }) => api.overview.get(scope, PERIOD_HOURS[period], signal),
    refetchInterval: REFRESH_MS,
    staleTime: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}
