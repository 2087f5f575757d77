import { executionSearch } from "./execution-search.js";
import type { RawSearch } from "./search.js";

const DEFAULT_DOMAIN = "development";
const LISTS = new Set(["executions", "workflows", "launchPlans", "tasks"]);

/** Returns our address of a list of the stock console: `/projects/p/executions?domain=d`. */
export function stockList(project: string, list: string, domain = DEFAULT_DOMAIN): string {
  const page = LISTS.has(list) ? `/${list}` : "";
  return `/console/projects/${encodeURIComponent(project)}/domains/${encodeURIComponent(domain)}${page}`;
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
