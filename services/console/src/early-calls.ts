import { createRestClient } from "@flyte-ts/client/browser";
import { executionApi } from "./api/execution-api.js";
import {
  activePlansPage,
  type EntityName,
  executionsPage,
  namesPage,
  runsPage,
  versionsPage,
  workflowPlansPage,
} from "./api/list-pages.js";
import { overviewApi } from "./api/overview-api.js";
import { type EntityKind, registryApi } from "./api/registry-api.js";
import type { Scope } from "./api/scope.js";
import { executionSearch, shownNode } from "./route/execution-search.js";
import { executionsSearch } from "./route/executions-search.js";
import { homeSearch, PERIOD_HOURS } from "./route/list-search.js";
import { parseSearch, type RawSearch } from "./route/search.js";

/** Calls of the page that an address shows. */
interface EarlyPage extends Scope {
  readonly executions: ReturnType<typeof executionApi>;
  readonly overview: ReturnType<typeof overviewApi>;
  readonly registry: ReturnType<typeof registryApi>;
  /** Last part of the path, decoded. */
  readonly name: string;
  readonly search: RawSearch;
  readonly signal: AbortSignal;
}

/** Loads a page's script, and begins the calls that its first queries make. */
type Begin = (page: EarlyPage) => readonly unknown[];

const beginEntity = (kind: EntityKind, { executions, name, signal, ...scope }: EarlyPage): Promise<unknown> =>
  executions.list(scope, runsPage({ kind, name } satisfies EntityName), signal);

/** Pages by the kind in their path; with a slash, the page of one. */
const PAGES: ReadonlyMap<string, Begin> = new Map<string, Begin>(
  Object.entries({
    "": ({ overview, search, signal, ...scope }) => [
      import("./page/home/home-page.js"),
      overview.get(scope, PERIOD_HOURS[homeSearch.read(search).period], signal),
    ],
    executions: ({ executions, search, signal, ...scope }) => [
      import("./page/executions/executions-page.js"),
      executions.list(scope, executionsPage(executionsSearch.read(search), Date.now()), signal),
    ],
    "executions/": ({ executions, project, domain, name, search, signal }) => {
      const key = { project, domain, name };
      const { node, hasLog } = shownNode(executionSearch.read(search));
      return [
        import("./page/execution/execution-page.js"),
        executions.get(key, signal),
        ...(node === "" ? [] : [import("./page/execution/timeline/node-pane.js"), executions.getNode(key, node, signal)]),
        ...(hasLog ? [executions.listAttempts(key, node, signal)] : []),
      ];
    },
    workflows: ({ registry, executions, signal, ...scope }) => [
      import("./page/workflow/workflows-page.js"),
      registry.listNames("workflow", scope, namesPage, signal),
      executions.list(scope, runsPage(), signal),
    ],
    "workflows/": (page) => [
      import("./page/workflow/workflow-page.js"),
      beginEntity("workflow", page),
      page.registry.listWorkflows(page, page.name, versionsPage, page.signal),
      page.registry.listLaunchPlans(page, undefined, workflowPlansPage(page.name), page.signal),
    ],
    launchPlans: ({ registry, signal, ...scope }) => [
      import("./page/launch-plan/launch-plans-page.js"),
      registry.listNames("launch_plan", scope, namesPage, signal),
      registry.listActiveLaunchPlans(scope, activePlansPage, signal),
    ],
    "launchPlans/": (page) => [
      import("./page/launch-plan/launch-plan-page.js"),
      beginEntity("launch_plan", page),
      page.registry.listLaunchPlans(page, page.name, versionsPage, page.signal),
    ],
    tasks: ({ registry, signal, ...scope }) => [import("./page/task/tasks-page.js"), registry.listNames("task", scope, namesPage, signal)],
    "tasks/": (page) => [
      import("./page/task/task-page.js"),
      beginEntity("task", page),
      page.registry.listTasks(page, page.name, versionsPage, page.signal),
    ],
  } satisfies Readonly<Record<string, Begin>>),
);

const PATH = /^\/console\/projects\/([^/]+)\/domains\/([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?\/?$/;

/**
 * Begins what the page at an address needs first, while the app loads: its script, and the calls
 * that `first-queries.ts` makes of the same page, which take the answers.
 *
 * @param begin sends a call and keeps its answer
 */
export function beginEarly({ pathname, search }: Pick<Location, "pathname" | "search">, begin: typeof fetch): void {
  const parts = partsOf(pathname);
  if (parts === undefined) return;
  const { kind, ...names } = parts;
  const rest = createRestClient({ fetch: begin });
  const apis = { executions: executionApi(rest), overview: overviewApi(rest), registry: registryApi(rest) };
  PAGES.get(kind)?.({ ...apis, ...names, search: parseSearch(search), signal: new AbortController().signal });
}

/** Reads the path of a page; undefined for another one, or one that is malformed. */
function partsOf(pathname: string): (Scope & { readonly kind: string; readonly name: string }) | undefined {
  try {
    const [, project, domain, kind = "", name] = (PATH.exec(pathname) ?? []).map((part) => part && decodeURIComponent(part));
    if (project === undefined || domain === undefined) return undefined;
    return { project, domain, kind: name === undefined ? kind : `${kind}/`, name: name ?? "" };
  } catch {
    return undefined;
  }
}
