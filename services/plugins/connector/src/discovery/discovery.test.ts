import { create } from "@bufbuild/protobuf";
import { ManualTime } from "@flyte-ts/async/manual-time";
import { AgentSchema } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import { Code, RpcError } from "@flyte-ts/rpc";
import type { Logger } from "@flyte-ts/telemetry";
import { beforeEach, describe, expect, test } from "vitest";
import { Endpoint } from "../endpoint/endpoint.js";
import { testSettings } from "../settings.fixture.js";
import { ToyConnector } from "../toy-connector.fixture.js";
import { announcedTypes } from "./announced-types.js";
import { Discovery } from "./discovery.js";

const agent = (...names: string[]) => create(AgentSchema, { supportedTaskCategories: names.map((name) => ({ name, version: 0 })) });

test("old connectors announce names without versions", () => {
  const agents = [
    create(AgentSchema, { supportedTaskTypes: ["old"] }),
    create(AgentSchema, {
      isSync: true,
      supportedTaskCategories: [{ name: "old", version: 0 }, { name: "new", version: 2 }, { name: "" }],
    }),
  ];
  expect(announcedTypes(agents)).toEqual([
    { taskType: "old", version: 0, isSync: false },
    { taskType: "new", version: 2, isSync: true },
  ]);
});

describe("discovery", () => {
  let clock: ManualTime;
  let connectors: Record<string, ToyConnector>;
  let discovery: Discovery;
  let warnings: object[];
  let unclaimed: Set<string>;
  let changes: string[][];
  const types = () => [...discovery.routes.types.keys()].sort();
  const away =
    (code: Exclude<Code, 0> = Code.UNAVAILABLE) =>
    () => {
      throw new RpcError(code, "away");
    };

  beforeEach(() => {
    clock = new ManualTime();
    connectors = { one: new ToyConnector(), two: new ToyConnector() };
    for (const connector of Object.values(connectors)) connector.agents = [];
    warnings = [];
    unclaimed = new Set();
    changes = [];
    const logger = { warn: (fields: object) => warnings.push(fields), info: () => undefined } as unknown as Logger;
    const settings = testSettings({
      endpoints: [
        { name: "one", address: "one:1" },
        { name: "two", address: "two:1" },
      ],
    });
    const endpoints = settings.endpoints.map(
      (config) => new Endpoint(config, { calls: connectors[config.name] as ToyConnector, clock, random: () => 0.5 }),
    );
    const config = { pollIntervalMs: 10_000, startDelayMs: 25_000, forgetOthersMs: 60_000, explicit: {}, excluded: [] };
    discovery = new Discovery({
      endpoints,
      config,
      clock,
      logger,
      pluginName: "connector-service",
      findUnclaimed: (taskTypes) => Promise.resolve(new Set(taskTypes.filter((taskType) => unclaimed.has(taskType)))),
      onRoutes: (_, changed) => {
        if (changed.size > 0) changes.push([...changed].sort());
      },
    });
  });

  test("hears other plugin services before it serves what is announced", async () => {
    (connectors.one as ToyConnector).agents = [agent("spark", "databricks")];
    discovery.start();
    await clock.advance(24_000);
    expect(types()).toEqual([]);
    discovery.onHeartbeat({ name: "spark", taskTypes: ["spark"], instance: "", uptimeMs: 0 });
    discovery.onHeartbeat({ name: "connector-service", taskTypes: ["databricks"], instance: "", uptimeMs: 0 });
    await clock.advance(2_000);
    expect(types()).toEqual(["databricks"]);
    await clock.advance(70_000);
    expect(types()).toEqual(["databricks", "spark"]);
    discovery.onHeartbeat({ name: "spark", taskTypes: ["spark"], instance: "", uptimeMs: 0 });
    expect(types()).toEqual(["databricks"]);
  });

  test("types come and go with the answers, and stay while an endpoint fails", async () => {
    (connectors.one as ToyConnector).agents = [agent("a", "b")];
    discovery.start();
    await clock.advance(30_000);
    expect(types()).toEqual(["a", "b"]);
    (connectors.one as ToyConnector).onCall = away();
    await clock.advance(600_000);
    expect(types()).toEqual(["a", "b"]);
    expect(warnings).toHaveLength(1);
    (connectors.one as ToyConnector).onCall = () => undefined;
    (connectors.one as ToyConnector).agents = [agent("b", "c")];
    await clock.advance(10_000);
    expect(types()).toEqual(["b", "c"]);
    (connectors.one as ToyConnector).onCall = away(Code.UNIMPLEMENTED);
    await clock.advance(10_000);
    expect(types()).toEqual([]);
  });

  test("waits for the first results, so that the order of the configuration holds, but not long", async () => {
    let answer: () => void = () => undefined;
    (connectors.one as ToyConnector).onCall = () => new Promise((resolve) => (answer = resolve));
    for (const connector of Object.values(connectors)) connector.agents = [agent("a")];
    unclaimed.add("a");
    discovery.start();
    await clock.advance(2_500);
    expect(types()).toEqual([]);
    await clock.advance(600);
    expect(discovery.routes.types.get("a")?.versions.get(0)?.endpoint).toBe("two");
    answer();
    await clock.advance(0);
    expect(discovery.routes.types.get("a")?.versions.get(0)?.endpoint).toBe("one");
    expect(warnings).toEqual([{ taskType: "a", version: 0, chosen: "one", ignored: "two" }]);
  });

  test("serves types that no other service has received without waiting for all heartbeats", async () => {
    (connectors.one as ToyConnector).agents = [agent("new", "spark")];
    unclaimed.add("new");
    discovery.start();
    await clock.advance(1_900);
    expect(types()).toEqual([]);
    await clock.advance(200);
    expect(types()).toEqual(["new"]);
    unclaimed.add("later");
    (connectors.two as ToyConnector).agents = [agent("later")];
    (connectors.two as ToyConnector).connect();
    await clock.advance(0);
    expect(types()).toEqual(["later", "new"]);
    discovery.onHeartbeat({ name: "other", taskTypes: ["new"], instance: "", uptimeMs: 0 });
    expect(types()).toEqual(["later"]);
    await clock.advance(25_000);
    expect(types()).toEqual(["later", "spark"]);
  });

  test("a standby that has heard the others serves all types at its takeover", async () => {
    (connectors.one as ToyConnector).agents = [agent("a")];
    await clock.advance(25_000);
    discovery.start();
    await clock.advance(0);
    expect(types()).toEqual(["a"]);
  });

  test("asks an endpoint that is away each second, and at once when it is connected", async () => {
    const { one } = connectors as { one: ToyConnector };
    one.onCall = away();
    discovery.start();
    await clock.advance(30_000);
    expect(one.calls.length).toBe(31);
    one.onCall = () => undefined;
    one.agents = [agent("a")];
    one.connect();
    await clock.advance(0);
    expect(types()).toEqual(["a"]);
    // Its connectors are replaced by others within one interval.
    one.agents = [agent("b")];
    one.connect();
    await clock.advance(0);
    expect(types()).toEqual(["b"]);
    one.calls.length = 0;
    await clock.advance(60_000);
    expect(one.calls.length).toBe(6);
  });

  test("names the types whose routes have changed, none while nothing changes", async () => {
    const { one, two } = connectors as { one: ToyConnector; two: ToyConnector };
    one.agents = [agent("a", "b")];
    discovery.start();
    await clock.advance(60_000);
    expect(changes).toEqual([["a", "b"]]);
    one.onCall = away();
    await clock.advance(30_000);
    one.onCall = () => undefined;
    await clock.advance(30_000);
    expect(changes).toEqual([["a", "b"]]);
    one.agents = [agent("b")];
    two.agents = [agent("a", "b")];
    await clock.advance(10_000);
    expect(changes.slice(1).flat()).toContain("a");
    expect(changes.slice(1).flat()).not.toContain("b");
  });

  test("an answer that a refresh waits for begins after it", async () => {
    const { one } = connectors as { one: ToyConnector };
    const answers: (() => void)[] = [];
    one.onCall = () => new Promise((resolve) => answers.push(resolve));
    discovery.start();
    let refreshed = false;
    const refreshing = discovery.refresh().then(() => (refreshed = true));
    await clock.advance(0);
    answers[0]?.();
    await clock.advance(0);
    expect([answers.length, refreshed]).toEqual([2, false]);
    answers[1]?.();
    await refreshing;
    expect(refreshed).toBe(true);
  });

  test("an endpoint that hangs delays no other", async () => {
    discovery.start();
    await clock.advance(30_000);
    (connectors.one as ToyConnector).onCall = () => new Promise(() => undefined);
    await clock.advance(10_000);
    (connectors.two as ToyConnector).agents = [agent("late")];
    await clock.advance(10_000);
    expect(types()).toEqual(["late"]);
  });
});
