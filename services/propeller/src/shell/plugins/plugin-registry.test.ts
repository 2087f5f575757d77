import { expect, test } from "vitest";
import { PluginRegistry } from "./plugin-registry.js";

const hello = (...taskTypes: string[]) => ({ name: "p", taskTypes, instance: "p-0", uptimeMs: 100_000 });

test("a task type is served while a service announces it, then silent, and none is missing before the discovery time", () => {
  const registry = new PluginRegistry({ listeningSince: 0, discoveryMs: 25_000, heartbeatTimeoutMs: 35_000 });
  expect(registry.refresh(1_000)).toBe(false);
  registry.onHeartbeat(hello("echo", "core-sleep"), 2_000);
  expect(registry.refresh(3_000)).toBe(true);
  expect(registry.health).toEqual({ discoveryDone: false, available: new Set(["echo", "core-sleep"]), stale: new Map() });
  registry.onHeartbeat(hello("echo"), 12_000);
  expect(registry.refresh(13_000)).toBe(false);
  expect(registry.refresh(25_000)).toBe(true);
  expect(registry.health.discoveryDone).toBe(true);
  expect(registry.refresh(37_000)).toBe(true);
  expect(registry.health).toEqual({ discoveryDone: true, available: new Set(["echo"]), stale: new Map([["core-sleep", 2_000]]) });
  expect(registry.refresh(38_000)).toBe(false);
  registry.onHeartbeat(hello("core-sleep"), 39_000);
  expect(registry.refresh(39_001)).toBe(true);
  expect(registry.health.available).toEqual(new Set(["echo", "core-sleep"]));
  expect(registry.heartbeatAges(40_000)).toEqual(
    new Map([
      ["echo", 28_000],
      ["core-sleep", 1_000],
    ]),
  );
});

test("the start of each plugin process is reported once, even if its first announcements are lost", () => {
  const registry = new PluginRegistry({ listeningSince: 0, discoveryMs: 25_000, heartbeatTimeoutMs: 35_000 });
  const heard = (instance: string, uptimeMs: number, now: number) => [
    ...registry.onHeartbeat({ ...hello("echo"), instance, uptimeMs }, now),
  ];
  expect(heard("a", 100_000, 1_000)).toEqual([]);
  expect(heard("b", 0, 2_000)).toEqual(["echo"]);
  expect(heard("b", 10_000, 12_000)).toEqual([]);
  expect(heard("c", 20_000, 13_000)).toEqual(["echo"]);
  expect(heard("d", 30_000, 14_000)).toEqual([]);
  // Sent by a version without the field `instance`.
  expect(heard("", 0, 15_000)).toEqual([]);
});

test("the memory for announcements is bounded", () => {
  const registry = new PluginRegistry({ listeningSince: 0, discoveryMs: 25_000, heartbeatTimeoutMs: 35_000 });
  for (let count = 0; count < 5_000; count++) {
    registry.onHeartbeat({ ...hello(`forged-${count}`), instance: `forged-${count}`, uptimeMs: 0 }, count);
    if (count % 100 === 0) registry.onHeartbeat(hello("echo"), count);
  }
  registry.refresh(5_000);
  expect(registry.heartbeatAges(5_000).size).toBe(1_000);
  expect(registry.health.available.size + registry.health.stale.size).toBe(1_000);
  expect(registry.health.available).toContain("echo");
});
