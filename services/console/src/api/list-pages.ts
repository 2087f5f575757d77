import type { ExecutionsSearch } from "../route/executions-search.js";
import { allOf, executionFilters, term } from "../route/filter-expression.js";
import type { EntityKind } from "./registry-api.js";
import type { ListQuery } from "./scope.js";

const EXECUTIONS = 100;
/** Executions that the list looks for anew. */
const NEWEST = 30;
/** Names that a list shows of each kind. */
const NAMES = 1_000;
const VERSIONS = 200;
/** Maximum of active launch plans that a page reads. */
export const MAX_ACTIVE_PLANS = 1_000;

const newestFirst = { key: "created_at", direction: "DESCENDING" } as const;
const ORDERS: Readonly<Record<ExecutionsSearch["order"], NonNullable<ListQuery["sortBy"]>>> = {
  newest: newestFirst,
  oldest: { key: "created_at", direction: "ASCENDING" },
  longest: { key: "duration", direction: "DESCENDING" },
};

/** Kind and name of an entity. */
export interface EntityName {
  readonly kind: EntityKind;
  readonly name: string;
}

/** First page of the list of executions by the filters of its address. */
export function executionsPage(search: ExecutionsSearch, nowMs: number): ListQuery {
  return { limit: EXECUTIONS, filters: executionFilters(search, nowMs), sortBy: ORDERS[search.order] };
}

/** The newest executions by the same filters. */
export function newestPage(search: ExecutionsSearch, nowMs: number): ListQuery {
  return { limit: NEWEST, filters: executionFilters(search, nowMs), sortBy: newestFirst };
}

/** Executions by their names. */
export function namedPage(names: readonly string[]): ListQuery {
  return { limit: names.length, filters: term("value_in", "name", names.join(";")), sortBy: newestFirst };
}

/** Latest executions of an entity; of all by default. */
export function runsPage(of?: EntityName): ListQuery {
  return { limit: EXECUTIONS, filters: of && term("eq", `${of.kind}.name`, of.name), sortBy: newestFirst };
}

export const namesPage: ListQuery = { limit: NAMES, sortBy: { key: "name", direction: "ASCENDING" } };
export const activePlansPage: ListQuery = { limit: MAX_ACTIVE_PLANS };
/** Versions of an entity, newest first. */
export const versionsPage: ListQuery = { limit: VERSIONS, sortBy: newestFirst };

export const activeVersionPage: ListQuery = { limit: 1, filters: "eq(state,1)" };

/** One version of a launch plan or task, or of the launch plans of a workflow. */
export function oneVersionPage({ kind, name }: EntityName, version: string): ListQuery {
  const ofWorkflow = kind === "workflow" ? term("eq", "workflow.name", name) : undefined;
  return { ...versionsPage, filters: allOf(ofWorkflow, term("eq", "version", version)) };
}

/** Launch plans of a workflow in all their versions, newest first. */
export function workflowPlansPage(workflow: string): ListQuery {
  return { ...versionsPage, filters: term("eq", "workflow.name", workflow) };
}
