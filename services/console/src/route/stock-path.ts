import { executionSearch } from "./execution-search.js";
import { entitySearch } from "./list-search.js";
import { type RawSearch, stringifySearch } from "./search.js";

const DEFAULT_DOMAIN = "development";
const LISTS = new Set(["executions", "workflows", "launchPlans", "tasks"]);

/** Returns our address of a list of the stock console: `/projects/p/executions?domain=d`. */
export function stockList(project: string, list: string, domain = DEFAULT_DOMAIN): string {
  const page = LISTS.has(list) ? `/${list}` : "";
  return `/console/projects/${encodeURIComponent(project)}/domains/${encodeURIComponent(domain)}${page}`;
}

/** Lists by the kind of an entity, as the stock console and pyflyte name it in addresses. */
const LIST_OF_KIND: Readonly<Record<string, string>> = { workflow: "workflows", launch_plan: "launchPlans", task: "tasks" };

/**
 * Returns our address of a version of an entity, which pyflyte prints when it has registered it:
 * `workflow/{name}/version/{version}`. An unknown kind leads to the home of the domain.
 */
export function stockVersion({
  project,
  domain,
  kind,
  name,
  version,
}: Readonly<Record<"project" | "domain" | "kind" | "name" | "version", string>>): string {
  const scope = `/console/projects/${encodeURIComponent(project)}/domains/${encodeURIComponent(domain)}`;
  const list = LIST_OF_KIND[kind];
  if (list === undefined) return scope;
  const search = stringifySearch(entitySearch.write({ ...entitySearch.read({}), tab: "versions", version }));
  return `${scope}/${list}/${encodeURIComponent(name)}${search}`;
}

/**
 * Reads the end of the stock console's address of an attempt,
 * `{node}/taskId/{task}/attempt/{n}/view/{view}`, as the query of the execution's page.
 */
export function stockAttempt(rest: string): RawSearch {
  const [node = "", ...pairs] = rest.split("/").map(decode);
  const at = pairs.indexOf("attempt");
  const attempt = at === -1 ? "" : (pairs[at + 1] ?? "");
  return executionSearch.write({ ...executionSearch.read({}), node, attempt: /^\d+$/.test(attempt) ? attempt : "" });
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
