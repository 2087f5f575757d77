import type { QueryClient } from "@tanstack/react-query";
import type { App } from "./app/app.js";
import type { ExecutionKey, Scope } from "./api/scope.js";
import {
  activePlansQuery,
  planVersionsQuery,
  runsQuery,
  taskVersionsQuery,
  workflowPlansQuery,
  workflowVersionsQuery,
} from "./entity/queries.js";
import { namesQuery } from "./frame/queries.js";
import { attemptsQuery, executionQuery, nodeQuery } from "./page/execution/queries.js";
import { executionsQuery } from "./page/executions/queries.js";
import { overviewQuery } from "./page/home/queries.js";
import { executionSearch, shownNode } from "./route/execution-search.js";
import { executionsSearch } from "./route/executions-search.js";
import { homeSearch } from "./route/list-search.js";

/** Services of the router's pages. */
export interface Sources {
  readonly app: App;
  readonly queries: QueryClient;
}

/** Entry of a route. */
export interface Entry<Params> {
  readonly context: Sources;
  readonly params: Params;
  /** `preload` when a link is pointed at. */
  readonly cause: "preload" | "enter" | "stay";
  readonly location: { readonly search: Readonly<Record<string, unknown>> };
}

type RawSearch = Readonly<Record<string, unknown>>;

/**
 * Makes the loader of a route: it begins the queries of a page that is entered, which then run
 * while the page's own script loads. The page uses the same queries, reports their errors, and
 * reads again what has become old.
 */
function whenEntered<Params>(begin: (sources: Sources, params: Params, search: RawSearch) => readonly Promise<unknown>[]) {
  return ({ cause, context, params, location }: Entry<Params>): void => {
    if (cause === "enter") void Promise.all(begin(context, params, location.search));
  };
}

type Named = Scope & { readonly name: string };
const scopeOf = ({ project, domain }: Scope): Scope => ({ project, domain });

export const beginHome = whenEntered<Scope>(({ app, queries }, scope, search) => [
  queries.prefetchQuery(overviewQuery(app, scopeOf(scope), homeSearch.read(search).period)),
]);
export const beginExecutions = whenEntered<Scope>(({ app, queries }, scope, search) => [
  queries.prefetchInfiniteQuery(executionsQuery(app, scopeOf(scope), executionsSearch.read(search))),
]);
export const beginExecution = whenEntered<ExecutionKey>(({ app, queries }, { project, domain, name }, search) => {
  const key = { project, domain, name };
  const { node, hasLog } = shownNode(executionSearch.read(search));
  return [
    queries.prefetchQuery(executionQuery(app, key)),
    ...(node === "" ? [] : [queries.prefetchQuery(nodeQuery(app, key, node))]),
    ...(hasLog ? [queries.prefetchQuery(attemptsQuery(app, key, node))] : []),
  ];
});
export const beginWorkflows = whenEntered<Scope>(({ app, queries }, scope) => [
  queries.prefetchQuery(namesQuery(app, scopeOf(scope), "workflow")),
  queries.prefetchQuery(runsQuery(app, scopeOf(scope))),
]);
export const beginWorkflow = whenEntered<Named>(({ app, queries }, { name, ...scope }) => [
  queries.prefetchQuery(runsQuery(app, scopeOf(scope), { kind: "workflow", name })),
  queries.prefetchQuery(workflowVersionsQuery(app, scopeOf(scope), name)),
  queries.prefetchQuery(workflowPlansQuery(app, scopeOf(scope), name)),
]);
export const beginLaunchPlans = whenEntered<Scope>(({ app, queries }, scope) => [
  queries.prefetchQuery(namesQuery(app, scopeOf(scope), "launch_plan")),
  queries.prefetchQuery(activePlansQuery(app, scopeOf(scope))),
]);
export const beginLaunchPlan = whenEntered<Named>(({ app, queries }, { name, ...scope }) => [
  queries.prefetchQuery(runsQuery(app, scopeOf(scope), { kind: "launch_plan", name })),
  queries.prefetchQuery(planVersionsQuery(app, scopeOf(scope), name)),
]);
export const beginTasks = whenEntered<Scope>(({ app, queries }, scope) => [queries.prefetchQuery(namesQuery(app, scopeOf(scope), "task"))]);
export const beginTask = whenEntered<Named>(({ app, queries }, { name, ...scope }) => [
  queries.prefetchQuery(runsQuery(app, scopeOf(scope), { kind: "task", name })),
  queries.prefetchQuery(taskVersionsQuery(app, scopeOf(scope), name)),
]);
