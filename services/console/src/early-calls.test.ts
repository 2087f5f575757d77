import { createRestClient } from "@flyte-ts/client/browser";
import { QueryClient } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";
import { createApi } from "./api/api.js";
import type { App } from "./app/app.js";
import { beginEarly } from "./early-calls.js";
import * as first from "./first-queries.js";
import { parseSearch } from "./route/search.js";
import { createEarlyAnswers } from "./session/start/early-answers.js";

// The scripts of pages are not looked at here.
vi.mock("./page/home/home-page.js", () => ({}));
vi.mock("./page/executions/executions-page.js", () => ({}));
vi.mock("./page/execution/execution-page.js", () => ({}));
vi.mock("./page/execution/timeline/node-pane.js", () => ({}));
vi.mock("./page/workflow/workflows-page.js", () => ({}));
vi.mock("./page/workflow/workflow-page.js", () => ({}));
vi.mock("./page/launch-plan/launch-plans-page.js", () => ({}));
vi.mock("./page/launch-plan/launch-plan-page.js", () => ({}));
vi.mock("./page/task/tasks-page.js", () => ({}));
vi.mock("./page/task/task-page.js", () => ({}));

const ROOT = "/console/projects/p%201/domains/d";
const params = { project: "p 1", domain: "d", name: "a/b" };

/** Begins a page's early calls, then its first queries; lists the calls of each that were sent. */
function open(path: string, begin: typeof first.beginTask, search = "") {
  const sent: string[] = [];
  const early = createEarlyAnswers({
    send: ((input: string) => {
      sent.push(input);
      return new Promise(() => undefined);
    }) as typeof fetch,
  });
  beginEarly({ pathname: `${ROOT}${path}`, search }, early.begin);
  const begun = [...sent];
  const app = { api: createApi(createRestClient({ fetch: early.fetch })), clock: { now: Date.now } } as App;
  begin({ cause: "enter", context: { app, queries: new QueryClient() }, params, location: { search: parseSearch(search) } });
  return { begun, sentLater: sent.slice(begun.length) };
}

test.each([
  ["", first.beginHome, "?in=7d", 1],
  ["/executions", first.beginExecutions, "", 1],
  ["/executions", first.beginExecutions, "?phase=FAILED&in=24h&q=x+y&sort=longest", 1],
  ["/executions/a%2Fb", first.beginExecution, "?tab=timeline", 1],
  ["/executions/a%2Fb", first.beginExecution, "?tab=timeline&node=n0", 2],
  ["/executions/a%2Fb", first.beginExecution, "?tab=graph&node=n0&pane=log", 3],
  ["/executions/a%2Fb", first.beginExecution, "?tab=errors&node=n0&pane=log", 1],
  ["/workflows", first.beginWorkflows, "", 2],
  ["/workflows/a%2Fb", first.beginWorkflow, "", 3],
  ["/launchPlans/", first.beginLaunchPlans, "", 2],
  ["/launchPlans/a%2Fb", first.beginLaunchPlan, "", 2],
  ["/tasks", first.beginTasks, "", 1],
  ["/tasks/a%2Fb", first.beginTask, "", 2],
] as const)("the queries of page %j take the answers of its early calls", (path, begin, search, calls) => {
  const { begun, sentLater } = open(path, begin, search);
  expect([begun.length, sentLater]).toEqual([calls, []]);
});

test.each(["/constructor", "/%", "/executions/%", "/executions/e/nodeId/n0", "/audit"])("the address %j begins nothing", (path) => {
  const send = vi.fn<typeof fetch>();
  beginEarly({ pathname: `${ROOT}${path}`, search: "" }, send);
  expect(send).not.toHaveBeenCalled();
});
