import { expect, test } from "vitest";
import { PluginPresence } from "./plugin-presence.js";

const hello = (...taskTypes: string[]) => ({ name: "p", taskTypes, finalizes: true, instance: "p-0", servedMs: 100_000 });

test("a task type is served while somebody announces it, then silent, and nobody is missed before the time", () => {
  const presence = new PluginPresence({ since: 0, listenMs: 25_000, silentAfterMs: 35_000 });
  expect(presence.check(1_000)).toBe(false);
  presence.heard(hello("echo", "core-sleep"), 2_000);
  expect(presence.check(3_000)).toBe(true);
  expect(presence.known).toEqual({ complete: false, served: new Set(["echo", "core-sleep"]), silent: new Map() });
  presence.heard(hello("echo"), 12_000);
  expect(presence.check(13_000)).toBe(false);
  expect(presence.check(25_000)).toBe(true);
  expect(presence.known.complete).toBe(true);
  expect(presence.check(37_000)).toBe(true);
  expect(presence.known).toEqual({ complete: true, served: new Set(["echo"]), silent: new Map([["core-sleep", 2_000]]) });
  expect(presence.check(38_000)).toBe(false);
  presence.heard(hello("core-sleep"), 39_000);
  expect(presence.check(39_001)).toBe(true);
  expect(presence.known.served).toEqual(new Set(["echo", "core-sleep"]));
  expect(presence.silences(40_000)).toEqual(
    new Map([
      ["echo", 28_000],
      ["core-sleep", 1_000],
    ]),
  );
});

test("of each process that has begun to serve one hears once, though its first words are lost", () => {
  const presence = new PluginPresence({ since: 0, listenMs: 25_000, silentAfterMs: 35_000 });
  const heard = (instance: string, servedMs: number, now: number) => [
    ...presence.heard({ ...hello("echo"), instance, uptimeMs: servedMs }, now),
  ];
  expect(heard("a", 100_000, 1_000)).toEqual([]);
  expect(heard("b", 0, 2_000)).toEqual(["echo"]);
  expect(heard("b", 10_000, 12_000)).toEqual([]);
  expect(heard("c", 20_000, 13_000)).toEqual(["echo"]);
  expect(heard("d", 30_000, 14_000)).toEqual([]);
  // Sent by a version without the field `instance`.
  expect(heard("", 0, 15_000)).toEqual([]);
});

test("announcements without end take no memory without end", () => {
  const presence = new PluginPresence({ since: 0, listenMs: 25_000, silentAfterMs: 35_000 });
  for (let count = 0; count < 5_000; count++) {
    presence.heard({ ...hello(`forged-${count}`), instance: `forged-${count}`, uptimeMs: 0 }, count);
    if (count % 100 === 0) presence.heard(hello("echo"), count);
  }
  presence.check(5_000);
  expect(presence.silences(5_000).size).toBe(1_000);
  expect(presence.known.served.size + presence.known.silent.size).toBe(1_000);
  expect(presence.known.served).toContain("echo");
});
