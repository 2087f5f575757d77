import { pathOf, type RestClient } from "@flyte-ts/client/browser";
import type { GetOverviewResponseJson } from "@flyte-ts/idl/flytets/admin/v1/overview_pb";
import type { SearchResponseJson } from "@flyte-ts/idl/flytets/admin/v1/search_pb";
import type { Scope } from "./scope.js";

export interface OverviewApi {
  /** State of a project and domain in the last hours. */
  get(scope: Scope, hours: number, signal: AbortSignal): Promise<GetOverviewResponseJson>;
  /** Names that contain all words of a text. */
  search(scope: Scope, text: string, signal: AbortSignal): Promise<SearchResponseJson>;
}

export function overviewApi(rest: RestClient): OverviewApi {
  return {
    get: ({ project, domain }, hours, signal) => rest.call(pathOf("api/v1/overview", project, domain), { query: { hours }, signal }),
    search: ({ project, domain }, text, signal) => rest.call(pathOf("api/v1/search", project, domain), { query: { text }, signal }),
  };
}
