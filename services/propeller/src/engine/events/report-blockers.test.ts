import { expect, test } from "vitest";
import { Driver } from "../../../simulation/fixtures/driver.js";
import { numbers } from "../../../simulation/fixtures/workflow.js";
import type { PluginHealth } from "../plugin-health.js";

const served = (...types: readonly string[]): PluginHealth => ({ discoveryDone: true, available: new Set(types), stale: new Map() });
const noticesOf = (d: Driver) => d.takeEventTexts().filter((text) => text.startsWith("notice"));

test("the blocking reason of an execution is reported once, again after a restart, and cleared", () => {
  const d = Driver.of({ main: { nodes: { n0: { kind: "task", type: "spark" }, n1: { kind: "task", type: "ray" } } } });
  expect(noticesOf(d)).toEqual([]);
  d.observe({ kind: "plugins", plugins: served() });
  d.advance(100_000);
  const first = "notice node n0: no plugin service serves task type [spark]";
  expect(noticesOf(d)).toEqual([first]);

  const next = d.restart();
  next.observe({ kind: "load" });
  expect(noticesOf(next)).toEqual([first]);
  next.observe({ kind: "plugins", plugins: served("spark") });
  expect(noticesOf(next)).toEqual(["notice node n1: no plugin service serves task type [ray]"]);
  next.observe({ kind: "plugins", plugins: served("spark", "ray") });
  expect(noticesOf(next)).toEqual(["notice "]);

  // The process exits before it is known whether the message has arrived.
  const last = next.restart();
  last.observe({ kind: "load" });
  expect(noticesOf(last)).toEqual(["notice "]);
  last.reply("n0", "SUCCEEDED");
  last.reply("n1", "SUCCEEDED");
  last.observe({ kind: "endRecorded", phase: "SUCCEEDED" });
  expect(last.resource.status).toMatchObject({ phase: 3 });
  expect(last.resource.status).not.toHaveProperty("notice");
});

test("an outage of the blob store is reported when it lasts, once, and cleared", () => {
  const d = Driver.of({ main: { nodes: { n0: { kind: "task" }, n1: { kind: "task", inputs: { a: "n0.o0" } } } } });
  d.reply("n0", "SUCCEEDED");
  const uri = d.reads.at(-1) ?? "";
  const fail = () => d.observe({ kind: "outputsRead", uri, result: { kind: "error", message: `${uri}: connection refused` } });
  fail();
  d.advance(1_000);
  fail();
  expect(noticesOf(d)).toEqual([]);
  d.advance(1_000);
  for (let i = 0; i < 5; i++) {
    fail();
    d.advance(30_000);
  }
  expect(noticesOf(d)).toEqual([
    `notice the blob store has failed since 2026-11-21T10:00:02Z and is retried with backoff: ${uri}: connection refused`,
  ]);
  d.observe({ kind: "outputsRead", uri, result: { kind: "value", value: numbers({ o0: 5 }) } });
  expect(noticesOf(d)).toEqual(["notice "]);
});

test("undecodable outputs fail their consumer", () => {
  const d = Driver.of({ main: { nodes: { n0: { kind: "task" }, n1: { kind: "task", inputs: { a: "n0.o0" } } } } });
  d.reply("n0", "SUCCEEDED");
  const uri = d.reads.at(-1) ?? "";
  d.observe({ kind: "outputsRead", uri, result: { kind: "corrupt", message: "it is no LiteralMap" } });
  expect(d.resource.status.error).toMatchObject({
    code: "BindingResolutionFailure",
    kind: "SYSTEM",
    message: `Failed to bind inputs of node [n1]: Outputs cannot be read, it is no LiteralMap, at [${uri}]`,
  });
});
