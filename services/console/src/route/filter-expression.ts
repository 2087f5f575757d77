import type { ExecutionsSearch } from "./executions-search.js";

const HOUR_MS = 60 * 60 * 1_000;
const WITHIN_MS = { "1h": HOUR_MS, "24h": 24 * HOUR_MS, "7d": 168 * HOUR_MS, "30d": 720 * HOUR_MS } as const;
/** Times of filters are whole minutes, so that pages that follow each other quickly are equal. */
const STEP_MS = 60_000;

/** Joins terms of a filter expression. */
export function allOf(...terms: readonly (string | undefined)[]): string | undefined {
  const given = terms.filter((term) => term !== undefined);
  return given.length === 0 ? undefined : given.join("+");
}

/** Formats a term; undefined without a value. Characters that end a term are left out. */
export function term(operation: string, field: string, value: string): string | undefined {
  const safe = value.replace(/[+()]/g, "").trim();
  return safe === "" ? undefined : `${operation}(${field},${safe})`;
}

/** Formats the filters of the list of executions for `ListExecutions`. */
export function executionFilters(search: ExecutionsSearch, nowMs: number): string | undefined {
  const { phases, within, workflow, version, launchPlan, startedBy, tag, cluster, longerThan, text, archived } = search;
  const since = within === "any" ? "" : new Date(Math.floor((nowMs - WITHIN_MS[within]) / STEP_MS) * STEP_MS).toISOString();
  return allOf(
    term("value_in", "phase", phases.join(";")),
    term("gte", "created_at", since),
    term("eq", "workflow.name", workflow),
    term("eq", "workflow.version", version),
    term("eq", "launch_plan.name", launchPlan),
    term("eq", "user", startedBy),
    term("eq", "admin_tag.name", tag),
    term("eq", "cluster", cluster),
    term("gte", "duration", longerThan),
    term("contains", "name", text),
    archived === "yes" ? "eq(state,1)" : undefined,
  );
}
