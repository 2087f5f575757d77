import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { expect, test } from "vitest";
import { Driver } from "../../../simulation/fixtures/driver.js";
import type { WorkflowSpec } from "../../../simulation/fixtures/workflow.js";
import type { PluginHealth } from "../plugin-health.js";

const known = (served: readonly string[], silent: readonly [string, number][] = []): PluginHealth => ({
  discoveryDone: true,
  available: new Set(served),
  stale: new Map(silent),
});
const spec: WorkflowSpec = { main: { nodes: { n0: { kind: "task", type: "spark", attempts: 2 } } } };
const NO_PLUGIN = "no plugin service serves task type [spark]";

/** `phase version reason` of the published events of attempts. */
const reportsOf = (d: Driver) =>
  d.events.flatMap(({ event: { event } }) =>
    event.case === "task" ? [`${TaskExecution_Phase[event.value.phase]} ${event.value.phaseVersion} ${event.value.reason}`] : [],
  );

test("an attempt without a plugin service waits with a reason that is reported once across restarts, and continues when a service appears", () => {
  const d = Driver.of(spec);
  expect(reportsOf(d)).toEqual([]);
  d.observe({ kind: "plugins", plugins: known(["echo"]) });
  d.observe({ kind: "plugins", plugins: known(["echo", "other"]) });
  d.advance(200_000);
  expect(reportsOf(d)).toEqual([`WAITING_FOR_RESOURCES 0 ${NO_PLUGIN}`]);
  expect(d.resource.status.nodeStatus?.["n0"]).toMatchObject({ phase: 1, message: NO_PLUGIN, TaskNodeStatus: { phase: 2 } });

  const next = d.restart();
  next.observe({ kind: "load" });
  next.observe({ kind: "plugins", plugins: known([]) });
  // The event is published again, since it may have been lost with the process.
  expect(reportsOf(next)).toEqual([`WAITING_FOR_RESOURCES 0 ${NO_PLUGIN}`]);
  next.takeRequests();
  next.observe({ kind: "plugins", plugins: known(["spark"]) });
  expect(next.takeRequests()).toEqual(["n0/0 RUN"]);
  expect(next.resource.status.nodeStatus?.["n0"]?.message).toBe("node queued");
  next.reply("n0", "RUNNING");
  next.observe({ kind: "plugins", plugins: known([], [["spark", next.now]]) });
  next.reply("n0", "SUCCEEDED");
  expect(next.resource.status.phase).toBe(3);
  expect(reportsOf(next)).toHaveLength(1);
});

test("each new reason has a new phase version, and no service is reported missing before the discovery time has passed", () => {
  const d = new Driver(Driver.of(spec).workflow);
  d.observe({ kind: "load" });
  d.observe({ kind: "plugins", plugins: { ...known([]), discoveryDone: false } });
  expect(reportsOf(d)).toEqual([]);
  const since = Date.parse("2026-11-21T09:59:00.000Z");
  d.observe({ kind: "plugins", plugins: known([], [["spark", since]]) });
  d.observe({ kind: "plugins", plugins: known(["spark"]) });
  d.advance(120_000);
  expect(reportsOf(d)).toEqual([
    "WAITING_FOR_RESOURCES 0 the plugin service for task type [spark] has not sent a heartbeat since 2026-11-21T09:59:00.000Z",
    "WAITING_FOR_RESOURCES 1 the plugin service for task type [spark] is available but has not answered since 2026-11-21T10:00:00.250Z; the request is sent again",
  ]);
  expect(d.request("n0").knownPhaseVersion).toBe(1);
});

test("an attempt without a plugin service fails permanently at the configured timeout, and its end is reported to admin", () => {
  const d = Driver.of(spec, { pluginUnavailableTimeout: 300_000 });
  d.observe({ kind: "plugins", plugins: known([]) });
  d.advance(150_000);
  const next = d.restart({ pluginUnavailableTimeout: 300_000 });
  next.observe({ kind: "load" });
  next.observe({ kind: "plugins", plugins: known([]) });
  next.advance(149_000);
  expect(next.resource.status.phase).toBe(1);
  next.advance(3_000);
  expect(next.resource.status).toMatchObject({
    phase: 5,
    error: { code: "PluginUnavailable", kind: "SYSTEM", message: `${NO_PLUGIN}; abandoned after 5m0s` },
  });
  expect(reportsOf(next).at(-1)).toBe(`FAILED 0 ${NO_PLUGIN}; abandoned after 5m0s`);
  expect(next.takeRequests().at(-1)).toBe("n0/0 FINALIZE");
});

test("an abort does not wait for a missing plugin service", () => {
  const d = Driver.of(spec);
  d.observe({ kind: "plugins", plugins: known([]) });
  d.observe({ kind: "abort" });
  d.advance(2_500);
  expect(d.resource.status.phase).toBe(6);
  expect(reportsOf(d).at(-1)).toBe("ABORTED 0 Workflow aborted.");
});

test.each(["before", "after"])(
  "an abort after a restart does not wait for a missing plugin service, whose absence is observed %s the load",
  (when) => {
    const d = Driver.of(spec);
    d.observe({ kind: "plugins", plugins: known([]) });
    const next = d.restart({}, true);
    if (when === "before") next.observe({ kind: "plugins", plugins: known([]) });
    next.observe({ kind: "load" });
    if (when === "after") next.observe({ kind: "plugins", plugins: known([]) });
    next.advance(2_500);
    expect(next.resource.status.phase).toBe(6);
  },
);

test("a node whose deadline has passed does not wait for a missing plugin service", () => {
  const d = Driver.of({ main: { nodes: { n0: { kind: "task", type: "spark", activeMs: 60_000 } } } });
  d.observe({ kind: "plugins", plugins: known([]) });
  d.advance(65_000);
  expect(d.eventTexts).toContain("n0 TIMED_OUT");
  expect(d.resource.status.phase).toBe(5);
});

test("an attempt waits for a limited time for an available plugin service that does not answer", () => {
  const d = Driver.of({ main: { nodes: { n0: { kind: "task", type: "spark", activeMs: 60_000 } } } }, { unstartedAbortTimeout: 300_000 });
  d.observe({ kind: "plugins", plugins: known(["spark"]) });
  d.advance(300_000);
  expect(d.resource.status.phase).toBe(1);
  d.advance(600_000);
  expect(d.resource.status.phase).toBe(5);
});

test("requests that a plugin service may have lost are sent again when its next process starts", () => {
  const nodes = { unheard: task(), queued: task(), runs: task(), other: { ...task(), type: "echo" } };
  const d = Driver.of({ main: { nodes } });
  d.reply("queued", "QUEUED");
  d.reply("runs", "RUNNING");
  d.advance(5_000);
  d.takeRequests();
  d.observe({ kind: "pluginStarted", taskTypes: new Set(["spark"]) });
  expect(d.takeRequests().sort()).toEqual(["queued/0 RUN", "unheard/0 RUN"]);
  d.observe({ kind: "abort" });
  d.takeRequests();
  d.observe({ kind: "pluginStarted", taskTypes: new Set(["spark"]) });
  expect(d.takeRequests().sort()).toEqual(["queued/0 ABORT", "runs/0 ABORT", "unheard/0 ABORT"]);
});

const task = () => ({ kind: "task", type: "spark" }) as const;
