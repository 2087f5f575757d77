import { createRootRouteWithContext, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { Frame } from "./frame/frame.js";
import { NotFound, PageError } from "./frame/page-error.js";
import {
  beginExecution,
  beginExecutions,
  beginHome,
  beginLaunchPlan,
  beginLaunchPlans,
  beginTask,
  beginTasks,
  beginWorkflow,
  beginWorkflows,
  type Sources,
} from "./first-queries.js";
import { auditSearch, automationSearch } from "./route/automation-search.js";
import { executionSearch } from "./route/execution-search.js";
import { executionsSearch } from "./route/executions-search.js";
import { launchSearch } from "./route/launch-search.js";
import { entitySearch, homeSearch, listSearch } from "./route/list-search.js";
import { accessSearch, settingsSearch } from "./route/platform-search.js";
import { parseSearch, stringifySearch } from "./route/search.js";
import { stockAttempt, stockList, stockVersion } from "./route/stock-path.js";

const root = createRootRouteWithContext<Sources>()({ component: Frame, notFoundComponent: NotFound, errorComponent: PageError });

const start = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: lazyRouteComponent(() => import("./page/home/start-page.js"), "StartPage"),
});
const projects = createRoute({
  getParentRoute: () => root,
  path: "/projects",
  component: lazyRouteComponent(() => import("./page/home/projects-page.js"), "ProjectsPage"),
});
const signedIn = createRoute({
  getParentRoute: () => root,
  path: "/signed-in",
  component: lazyRouteComponent(() => import("./page/home/signed-in-page.js"), "SignedInPage"),
});
/** Lists of the stock console, which have the domain in the query. */
const stock = createRoute({
  getParentRoute: () => root,
  path: "/projects/$project/$list",
  beforeLoad: ({ params, location }) => {
    redirect({ href: stockList(params.project, params.list, parseSearch(location.searchStr)["domain"]), replace: true, throw: true });
  },
});

const scope = createRoute({ getParentRoute: () => root, path: "/projects/$project/domains/$domain" });
const home = createRoute({
  getParentRoute: () => scope,
  path: "/",
  validateSearch: (raw: Record<string, unknown>) => homeSearch.write(homeSearch.read(raw)),
  loader: beginHome,
  component: lazyRouteComponent(() => import("./page/home/home-page.js"), "HomePage"),
});
const executions = createRoute({
  getParentRoute: () => scope,
  path: "/executions",
  validateSearch: (raw: Record<string, unknown>) => executionsSearch.write(executionsSearch.read(raw)),
  loader: beginExecutions,
  component: lazyRouteComponent(() => import("./page/executions/executions-page.js"), "ExecutionsPage"),
});
const execution = createRoute({
  getParentRoute: () => scope,
  path: "/executions/$name",
  validateSearch: (raw: Record<string, unknown>) => executionSearch.write(executionSearch.read(raw)),
  loader: beginExecution,
  component: lazyRouteComponent(() => import("./page/execution/execution-page.js"), "ExecutionPage"),
});
const attempt = createRoute({
  getParentRoute: () => scope,
  path: "/executions/$name/nodeId/$",
  beforeLoad: ({ params }) => {
    const { project, domain, name, _splat: rest = "" } = params;
    redirect({
      to: "/projects/$project/domains/$domain/executions/$name",
      params: { project, domain, name },
      search: stockAttempt(rest),
      replace: true,
      throw: true,
    });
  },
});
/** Versions of entities, as pyflyte and the stock console name them. */
const version = createRoute({
  getParentRoute: () => scope,
  path: "/$kind/$name/version/$version",
  beforeLoad: ({ params }) => {
    redirect({ href: stockVersion(params), replace: true, throw: true });
  },
});
const validateList = (raw: Record<string, unknown>) => listSearch.write(listSearch.read(raw));
const validateEntity = (raw: Record<string, unknown>) => entitySearch.write(entitySearch.read(raw));
const workflows = createRoute({
  getParentRoute: () => scope,
  path: "/workflows",
  validateSearch: validateList,
  loader: beginWorkflows,
  component: lazyRouteComponent(() => import("./page/workflow/workflows-page.js"), "WorkflowsPage"),
});
const workflow = createRoute({
  getParentRoute: () => scope,
  path: "/workflows/$name",
  validateSearch: validateEntity,
  loader: beginWorkflow,
  component: lazyRouteComponent(() => import("./page/workflow/workflow-page.js"), "WorkflowPage"),
});
const launchPlans = createRoute({
  getParentRoute: () => scope,
  path: "/launchPlans",
  validateSearch: validateList,
  loader: beginLaunchPlans,
  component: lazyRouteComponent(() => import("./page/launch-plan/launch-plans-page.js"), "LaunchPlansPage"),
});
const launchPlan = createRoute({
  getParentRoute: () => scope,
  path: "/launchPlans/$name",
  validateSearch: validateEntity,
  loader: beginLaunchPlan,
  component: lazyRouteComponent(() => import("./page/launch-plan/launch-plan-page.js"), "LaunchPlanPage"),
});
const tasks = createRoute({
  getParentRoute: () => scope,
  path: "/tasks",
  validateSearch: validateList,
  loader: beginTasks,
  component: lazyRouteComponent(() => import("./page/task/tasks-page.js"), "TasksPage"),
});
const task = createRoute({
  getParentRoute: () => scope,
  path: "/tasks/$name",
  validateSearch: validateEntity,
  loader: beginTask,
  component: lazyRouteComponent(() => import("./page/task/task-page.js"), "TaskPage"),
});
const launch = createRoute({
  getParentRoute: () => scope,
  path: "/launch",
  validateSearch: (raw: Record<string, unknown>) => launchSearch.write(launchSearch.read(raw)),
  component: lazyRouteComponent(() => import("./page/launch/launch-page.js"), "LaunchPage"),
});
const automation = createRoute({
  getParentRoute: () => scope,
  path: "/automation",
  validateSearch: (raw: Record<string, unknown>) => automationSearch.write(automationSearch.read(raw)),
  component: lazyRouteComponent(() => import("./page/automation/automation-page.js"), "AutomationPage"),
});
const audit = createRoute({
  getParentRoute: () => scope,
  path: "/audit",
  validateSearch: (raw: Record<string, unknown>) => auditSearch.write(auditSearch.read(raw)),
  component: lazyRouteComponent(() => import("./page/audit/audit-page.js"), "AuditPage"),
});
const dataPlanes = createRoute({
  getParentRoute: () => scope,
  path: "/dataPlanes",
  component: lazyRouteComponent(() => import("./page/data-planes/data-planes-page.js"), "DataPlanesPage"),
});
const access = createRoute({
  getParentRoute: () => scope,
  path: "/access",
  validateSearch: (raw: Record<string, unknown>) => accessSearch.write(accessSearch.read(raw)),
  component: lazyRouteComponent(() => import("./page/access/access-page.js"), "AccessPage"),
});
const settings = createRoute({
  getParentRoute: () => scope,
  path: "/settings",
  validateSearch: (raw: Record<string, unknown>) => settingsSearch.write(settingsSearch.read(raw)),
  component: lazyRouteComponent(() => import("./page/settings/settings-page.js"), "SettingsPage"),
});
const about = createRoute({
  getParentRoute: () => scope,
  path: "/about",
  component: lazyRouteComponent(() => import("./page/about/about-page.js"), "AboutPage"),
});

const pages = [
  version,
  automation,
  audit,
  dataPlanes,
  access,
  settings,
  about,
  home,
  executions,
  execution,
  attempt,
  workflows,
  workflow,
  launchPlans,
  launchPlan,
  tasks,
  task,
  launch,
] as const;
const tree = root.addChildren([start, projects, signedIn, stock, scope.addChildren(pages)]);

/** Makes the router of the console, whose paths are those of the stock console. */
export function createConsoleRouter(context: Sources) {
  return createRouter({
    routeTree: tree,
    context,
    basepath: "/console",
    parseSearch,
    stringifySearch,
    defaultPreload: "intent",
    // Queries know what is fresh.
    defaultPreloadStaleTime: 0,
    scrollRestoration: false,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
