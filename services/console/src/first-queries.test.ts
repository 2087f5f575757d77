import { QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { createApi } from "./api/api.js";
import type { App } from "./app/app.js";
import { beginExecutions, beginWorkflows } from "./first-queries.js";
import { executionsQuery } from "./page/executions/queries.js";
import { executionsSearch } from "./route/executions-search.js";

const scope = { project: "p", domain: "d" };

/** Pages whose calls are recorded and never answered, or fail. */
function start(answer: () => Promise<never> = () => new Promise(() => undefined)) {
  const paths: string[] = [];
  const call = (path: string): Promise<never> => {
    paths.push(path);
    return answer();
  };
  const api = createApi({
    call,
    bytes: call,
    stream: () => {
      throw new Error("not used");
    },
  });
  const app = { api, clock: { now: () => 0 } } as App;
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const enter = (begin: typeof beginExecutions, cause: "preload" | "enter" | "stay", search = {}) =>
    begin({ cause, context: { app, queries }, params: scope, location: { search } });
  return { paths, app, queries, enter };
}

test("a page that is entered begins the query that it will use, by the filters of its address", () => {
  const { app, queries, paths, enter } = start();
  const search = executionsSearch.write({ ...executionsSearch.read({}), order: "longest" });
  enter(beginExecutions, "enter", search);
  const { queryKey } = executionsQuery(app, scope, executionsSearch.read(search));
  expect(queries.getQueryState(queryKey)?.fetchStatus).toBe("fetching");
  expect(paths).toEqual(["/api/v1/executions/p/d"]);
});

test("pointing at a link and changing a filter begin nothing", () => {
  const { paths, enter } = start();
  enter(beginWorkflows, "preload");
  enter(beginWorkflows, "stay");
  expect(paths).toEqual([]);
});

test("the error of a query that fails is its page's", async () => {
  const { app, queries, enter } = start(() => Promise.reject(new Error("away")));
  enter(beginExecutions, "enter");
  const { queryKey } = executionsQuery(app, scope, executionsSearch.read({}));
  await expect.poll(() => queries.getQueryState(queryKey)?.error?.message).toBe("away");
});
