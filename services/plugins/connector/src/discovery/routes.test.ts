import { expect, test } from "vitest";
import { buildRoutes, findRoute, type RouteInput } from "./routes.js";

const type = (taskType: string, version = 0, isSync = false) => ({ taskType, version, isSync });
const endpoint = (name: string, over: object = {}) => ({ name, excludedTaskTypes: [], ...over });

function routes(over: Partial<RouteInput>) {
  return buildRoutes({
    endpoints: [endpoint("one"), endpoint("two")],
    announced: new Map(),
    explicit: {},
    others: new Set(),
    excluded: [],
    mayTake: () => true,
    ...over,
  });
}

test("a type goes to the endpoint that announces its version", () => {
  const made = routes({
    announced: new Map([
      ["one", [type("sensor"), type("sensor", 1)]],
      ["two", [type("sensor", 2), type("webhook", 0, true)]],
    ]),
  });
  expect(findRoute(made, "sensor", 1)).toEqual({ kind: "found", route: { endpoint: "one", isSync: false } });
  expect(findRoute(made, "sensor", 2)).toEqual({ kind: "found", route: { endpoint: "two", isSync: false } });
  expect(findRoute(made, "webhook", 0)).toEqual({ kind: "found", route: { endpoint: "two", isSync: true } });
  expect(findRoute(made, "sensor", 3)).toEqual({ kind: "unknownVersion", known: [0, 1, 2], endpoints: ["one", "two"] });
  expect(findRoute(made, "other", 0)).toEqual({ kind: "unknownType" });
  expect(made.conflicts).toEqual([]);
});

test("the first endpoint of the configuration serves a type and version that two announce", () => {
  const announced = new Map([
    ["two", [type("sensor")]],
    ["one", [type("sensor")]],
  ]);
  const made = routes({ announced });
  expect(findRoute(made, "sensor", 0)).toMatchObject({ route: { endpoint: "one" } });
  expect(made.conflicts).toEqual([{ taskType: "sensor", version: 0, chosen: "one", ignored: "two" }]);
});

test("a type of another plugin service stays there, and so do excluded types", () => {
  const announced = new Map([["one", [type("spark"), type("databricks"), type("python-task")]]]);
  const made = routes({ announced, others: new Set(["spark"]), excluded: ["python-task"] });
  expect([...made.types.keys()]).toEqual(["databricks"]);
  expect(made.leftToOthers).toEqual(["spark"]);
});

test("an endpoint serves the types that its settings allow", () => {
  const announced = new Map([["one", [type("spark"), type("databricks"), type("sensor")]]]);
  const endpoints = [endpoint("one", { taskTypes: ["databricks", "spark"], excludedTaskTypes: ["spark"] })];
  expect([...routes({ announced, endpoints }).types.keys()]).toEqual(["databricks"]);
});

test("an explicit type wins over other services and announcements", () => {
  const announced = new Map([
    ["one", [type("spark")]],
    ["two", [type("spark", 0, true), type("spark", 3)]],
  ]);
  const made = routes({ announced, explicit: { spark: "two" }, others: new Set(["spark"]), mayTake: () => false });
  expect(findRoute(made, "spark", 0)).toEqual({ kind: "found", route: { endpoint: "two", isSync: true } });
  expect(findRoute(made, "spark", 1)).toEqual({ kind: "unknownVersion", known: [0, 3], endpoints: ["two"] });
  expect(made.contested).toEqual(["spark"]);
  expect(made.conflicts).toEqual([]);
});

test("an explicit type that its endpoint does not announce is asynchronous, in any version", () => {
  expect(findRoute(routes({ explicit: { x: "one" }, announced: new Map([["one", []]]) }), "x", 5)).toEqual({
    kind: "found",
    route: { endpoint: "one", isSync: false },
  });
  expect(findRoute(routes({ explicit: { x: "one" } }), "x", 5)).toEqual({ kind: "unanswered", endpoint: "one" });
});

test("announcements count only when other plugin services have been heard", () => {
  expect(routes({ announced: new Map([["one", [type("spark")]]]), mayTake: () => false }).types.size).toBe(0);
});
