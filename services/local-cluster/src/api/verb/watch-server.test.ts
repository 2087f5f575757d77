import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { FLYTE_DEFINITION, FLYTE_PATH, type TestCluster, testCluster, workflow } from "../../cluster.fixture.js";
import { show } from "../../object/model.js";
import { ObjectStore } from "../../store/object-store.js";

let k: TestCluster;
const CM = "/api/v1/namespaces/default/configmaps";
const named =
  (name: string) =>
  ({ object }: { object: { metadata: { name?: string } } }) =>
    object.metadata.name === name;
const create = async (name: string, labels: Record<string, string> = {}) =>
  (await k.call("POST", CM, { body: { metadata: { name, labels } } })).body;
const merge = { type: "application/merge-patch+json" };

beforeAll(async () => {
  k = await testCluster();
  await k.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", { body: FLYTE_DEFINITION });
});
afterAll(() => k.stop());

test("a watch from a resource version delivers every later change once and in order", async () => {
  const first = await create("r-1");
  await k.call("PATCH", `${CM}/r-1`, { ...merge, body: { data: { a: "1" } } });
  const watching = k.watch(`${CM}?watch=true&resourceVersion=${show(first.metadata.resourceVersion)}`);
  await watching.until(named("r-1"));
  await create("r-2");
  await k.call("DELETE", `${CM}/r-1`);
  await watching.until(({ type }) => type === "DELETED");
  watching.stop();
  expect(watching.events.map(({ type, object }) => [type, object.metadata.name])).toEqual([
    ["MODIFIED", "r-1"],
    ["ADDED", "r-2"],
    ["DELETED", "r-1"],
  ]);
  const revisions = watching.events.map(({ object }) => Number(object.metadata.resourceVersion));
  expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
});

test("a watch without a resource version delivers the current objects, then changes", async () => {
  await create("s-1", { set: "s" });
  const watching = k.watch(`${CM}?watch=true&labelSelector=set%3Ds`);
  await watching.until(named("s-1"));
  await create("s-2", { set: "s" });
  await watching.until(named("s-2"));
  watching.stop();
  expect(watching.events.map(({ type }) => type)).toEqual(["ADDED", "ADDED"]);
});

test("an object that leaves the selection is DELETED for the watcher, and ADDED when it returns", async () => {
  await create("l", { in: "yes" });
  const watching = k.watch(`${CM}?watch=true&labelSelector=in%3Dyes`);
  await watching.until(named("l"));
  for (const value of ["no", "yes"]) await k.call("PATCH", `${CM}/l`, { ...merge, body: { metadata: { labels: { in: value } } } });
  await create("other", { in: "yes" });
  await watching.until(named("other"));
  watching.stop();
  expect(watching.events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
    "ADDED l",
    "DELETED l",
    "ADDED l",
    "ADDED other",
  ]);
});

test("sendInitialEvents ends the initial list with a bookmark", async () => {
  await create("i-1", { set: "i" });
  const watching = k.watch(
    `${CM}?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&labelSelector=set%3Di`,
  );
  const bookmark = await watching.until(({ type }) => type === "BOOKMARK");
  watching.stop();
  expect(watching.events.map(({ type }) => type)).toEqual(["ADDED", "BOOKMARK"]);
  expect(bookmark.object).toMatchObject({
    kind: "ConfigMap",
    metadata: { resourceVersion: expect.stringMatching(/^\d+$/), annotations: { "k8s.io/initial-events-end": "true" } },
  });
});

test("timeoutSeconds ends the watch with a bookmark at the latest resource version", async () => {
  const latest = await create("t");
  const watching = k.watch(
    `${CM}?watch=true&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=${show(latest.metadata.resourceVersion)}`,
  );
  await watching.ended;
  expect(watching.events.map(({ type }) => type)).toEqual(["BOOKMARK"]);
  expect(Number(watching.events[0]?.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(latest.metadata.resourceVersion));
});

test.each(["999999999"])("a watch from resource version %s, which the store never had, is answered with 410", async (revision) => {
  const watching = k.watch(`${CM}?watch=true&resourceVersion=${revision}`);
  const { object } = await watching.until(({ type }) => type === "ERROR");
  expect(object).toMatchObject({
    kind: "Status",
    code: 410,
    reason: "Expired",
    message: expect.stringContaining("too old resource version"),
  });
  await watching.ended;
});

test("a restart keeps the changes that a watcher has not received", async () => {
  const first = await create("before");
  await create("missed");
  await k.restart();
  const watching = k.watch(`${CM}?watch=true&resourceVersion=${show(first.metadata.resourceVersion)}`);
  await watching.until(named("missed"));
  await create("after");
  await watching.until(named("after"));
  watching.stop();
  expect(watching.events.map(({ object }) => object.metadata.name)).toEqual(["missed", "after"]);
});

test("a watch may deliver metadata only or table rows", async () => {
  await k.call("POST", FLYTE_PATH, { body: workflow("w", { spec: { large: "x" } }) });
  const partial = k.watch(`${FLYTE_PATH}?watch=true`, "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
  const event = await partial.until(named("w"));
  partial.stop();
  expect(event.object).toEqual({
    kind: "PartialObjectMetadata",
    apiVersion: "meta.k8s.io/v1",
    metadata: expect.objectContaining({ name: "w" }),
  });
  const table = k.watch(`${FLYTE_PATH}?watch=true`, "application/json;as=Table;v=v1;g=meta.k8s.io,application/json");
  const rows = await table.until(({ object }) => object.kind === "Table");
  table.stop();
  expect(rows.object).toMatchObject({
    columnDefinitions: [{ name: "Name" }, { name: "Age" }],
    rows: [{ cells: ["w", expect.stringMatching(/^\d+s$/)] }],
  });
});

test("a change of a large object is delivered completely to watchers, and reduced to a writer that requests so", async () => {
  const nodes = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`n${i}`, { id: `n${i}`, text: "y".repeat(200) }]));
  const { body } = await k.call("POST", FLYTE_PATH, { body: workflow("large", { spec: { nodes }, status: { nodeStatus: {} } }) });
  const watching = k.watch(`${FLYTE_PATH}?watch=true&resourceVersion=${show(body.metadata.resourceVersion)}`);
  for (let i = 0; i < 20; i++) {
    const answer = await k.call("PATCH", `${FLYTE_PATH}/large`, {
      ...merge,
      body: { status: { nodeStatus: { [`n${i}`]: { phase: i } } } },
      accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    });
    expect(answer).toMatchObject({ status: 200, body: { kind: "PartialObjectMetadata" } });
  }
  const last = await watching.until(({ object }) => JSON.stringify(object["status"]).includes("n19"));
  watching.stop();
  const expected = { nodeStatus: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`n${i}`, { phase: i }])) };
  expect(last.object).toMatchObject({ spec: { nodes }, status: expected });
  await k.restart();
  expect((await k.call("GET", `${FLYTE_PATH}/large`)).body).toEqual(last.object);
});

test("a watch that overflows while it replays history ends, and follows no further changes", async () => {
  const first = await create("far-behind");
  for (let i = 0; i < 72; i++)
    expect((await k.call("PATCH", `${CM}/far-behind`, { ...merge, body: { data: { a: `${i}`.padEnd(1 << 20, "x") } } })).status).toBe(200);
  const subscribe = vi.spyOn(ObjectStore.prototype, "subscribe");
  const watching = k.watch(`${CM}?watch=true&resourceVersion=${show(first.metadata.resourceVersion)}`);
  await expect(watching.ended).rejects.toThrow("terminated");
  expect(subscribe).not.toHaveBeenCalled();
  subscribe.mockRestore();
});
