import { pluginHelloSubject, taskTypeHelloSubject } from "@flyte-ts/bus-contract";
import { beforeEach, expect, test } from "vitest";
import { encodeHeartbeat } from "@flyte-ts/bus-contract";
import { receiveHeartbeats } from "./receive-heartbeats.js";

const handlers = new Map<string, (subject: string, data: Uint8Array) => void>();
const heard: string[] = [];
let now = 0;

beforeEach(() => {
  handlers.clear();
  heard.length = 0;
  now = 0;
  const subscribeEphemeral = (subject: string, handler: (subject: string, data: Uint8Array) => void) => {
    handlers.set(subject, handler);
    return { close: async () => void handlers.delete(subject) };
  };
  receiveHeartbeats({
    bus: { subscribeEphemeral },
    now: () => now,
    onHeartbeat: ({ name, taskTypes }) => heard.push(`${name} ${taskTypes.join()}`),
  });
});

function announce(subject: string, name: string, taskTypes: readonly string[]): void {
  const filter = subject === pluginHelloSubject ? subject : `${pluginHelloSubject}.*`;
  handlers.get(filter)?.(subject, encodeHeartbeat({ name, taskTypes, instance: name, uptimeMs: 0 }));
}

test("on the subject of a task type only this type is announced", () => {
  announce(taskTypeHelloSubject("a.b"), "own", ["a.b"]);
  announce(taskTypeHelloSubject("mine"), "intruder", ["a.b"]);
  announce("flyte.plugin.at.east.hello.mine", "own", ["mine"]);
  expect(heard).toEqual(["own a.b", "own mine"]);
});

test("a type that its service announces cannot be claimed on the shared subject, until the service has left", () => {
  announce(taskTypeHelloSubject("a"), "own", ["a"]);
  announce(pluginHelloSubject, "intruder", ["a", "b"]);
  now = 34_999;
  announce(pluginHelloSubject, "intruder", ["a"]);
  expect(heard).toEqual(["own a", "intruder b"]);
  now = 35_000;
  announce(pluginHelloSubject, "previous version", ["a"]);
  expect(heard.at(-1)).toBe("previous version a");
});

test("bytes that are no heartbeat are ignored", () => {
  for (const handler of handlers.values()) handler("flyte.plugin.hello.a", new Uint8Array([0xff]));
  expect(heard).toEqual([]);
});
