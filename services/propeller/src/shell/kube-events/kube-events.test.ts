import type { KubeObject } from "@flyte-ts/kubernetes";
import { expect, test } from "vitest";
import { type DropReason, KubeEvents } from "./kube-events.js";

type Written = KubeObject & { readonly message: string; readonly count: number; readonly reason: string };

function fixture({ fails = false, takesMs = 0 } = {}) {
  const objects = new Map<string, Written>();
  const dropped: DropReason[] = [];
  const pauses: number[] = [];
  const clock = { now: Date.parse("2026-03-01T10:00:00Z") };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const events = new KubeEvents({
    client: {
      create: (_, object) => {
        clock.now += takesMs;
        if (fails) return Promise.reject(new Error("away"));
        objects.set(object.metadata.name, object as Written);
        return Promise.resolve(object as never);
      },
      mergePatch: (_, { name, body }) => {
        objects.set(name, { ...(objects.get(name) as Written), ...(body as object) });
        return Promise.resolve({} as never);
      },
    },
    instance: "here",
    now: () => clock.now,
    uidOf: (key) => (key.endsWith("gone") ? undefined : "u1"),
    sleep: (ms) => {
      pauses.push(ms);
      return Promise.resolve();
    },
    onDropped: (why) => dropped.push(why),
    onError: () => undefined,
    perSecond: 10,
    burst: 40,
  });
  const texts = () => [...objects.values()].map(({ reason, message, count }) => `${reason} ${count}: ${message}`);
  return { events, objects, dropped, pauses, clock, settle, texts };
}

test("equal Kubernetes events are counted in one event, which names the resource", async () => {
  const f = fixture();
  for (let i = 0; i < 3; i++) f.events.record("ns/a", { type: "Warning", reason: "NodeWaits", message: "node n0: no plugin service" });
  f.events.record("ns/a", { type: "Normal", reason: "Succeeded", message: "done" });
  f.events.record("ns/gone", { type: "Normal", reason: "Succeeded", message: "done" });
  await f.settle();
  expect(f.texts()).toEqual(["NodeWaits 3: node n0: no plugin service", "Succeeded 1: done"]);
  expect([...f.objects.values()][0]).toMatchObject({
    metadata: { namespace: "ns", name: expect.stringMatching(/^a\.[0-9a-f]{16}$/) },
    involvedObject: { kind: "FlyteWorkflow", apiVersion: "flyte.lyft.com/v1alpha1", name: "a", namespace: "ns", uid: "u1" },
    firstTimestamp: "2026-03-01T10:00:00Z",
  });
  expect(f.objects.size).toBe(new Set([...f.objects.values()].map(({ metadata }) => metadata.name)).size);
});

test("many similar events are combined, and the events of one workflow leave room for others", async () => {
  const f = fixture();
  for (let i = 0; i < 60; i++) f.events.record("ns/a", { type: "Warning", reason: "NodeFailed", message: `node n${i}` });
  f.events.record("ns/b", { type: "Normal", reason: "Started", message: "begun" });
  await f.settle();
  expect(f.texts()).toHaveLength(12);
  expect(f.texts()).toContain("NodeFailed 15: (combined from similar events) node n24");
  expect(f.texts()).toContain("Started 1: begun");
  expect(f.dropped).toEqual(Array.from({ length: 35 }, () => "workflowRate"));
  f.clock.now += 300_000;
  f.events.record("ns/a", { type: "Normal", reason: "Succeeded", message: "after all" });
  await f.settle();
  expect(f.texts()).toContain("Succeeded 1: after all");
});

test("the total rate of events is limited, and a failing API loses only the event", async () => {
  const f = fixture({ fails: true });
  for (let i = 0; i < 50; i++) f.events.record(`ns/w${i}`, { type: "Normal", reason: "Started", message: "begun" });
  for (let i = 0; i < 20; i++) await f.settle();
  expect(f.dropped.filter((why) => why === "rate")).toHaveLength(10);
  expect(f.dropped.filter((why) => why === "failed")).toHaveLength(40);
  expect(f.pauses).toEqual(Array.from({ length: 39 }, () => 100));
});

test.each([
  { takesMs: 5, pause: 100 },
  { takesMs: 30, pause: 300 },
  { takesMs: 4_000, pause: 1_000 },
])("after a server takes $takesMs ms for an event, no event is sent for $pause ms", async ({ takesMs, pause }) => {
  const f = fixture({ takesMs });
  for (const name of ["a", "b", "c"]) f.events.record(`ns/${name}`, { type: "Normal", reason: "Started", message: "begun" });
  for (let i = 0; i < 3; i++) await f.settle();
  expect(f.pauses).toEqual([pause, pause]);
});
