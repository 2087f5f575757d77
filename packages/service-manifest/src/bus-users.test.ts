import { expect, test } from "vitest";
import { busUsers } from "./bus-users.js";
import { defineService } from "./define-service.js";
import type { ServiceManifestInput } from "./manifest-schema.js";

const resources = { requests: { cpu: "1", memory: "1Gi" }, limits: { memory: "1Gi" } };
const service = (id: string, over: Partial<ServiceManifestInput>) =>
  defineService({ id, description: "A service.", plane: "data", kubernetes: { resources }, ...over });
const engine = service("engine", {
  requires: {
    bus: { publishes: ["flyte.task.*.*"], createsStreams: ["FLYTE_TASKS"], consumes: [{ stream: "FLYTE_EVENTS", durable: "*" }] },
  },
});
const demo = service("plugin-demo", { taskTypes: ["demo"], requires: { bus: {} } });
const recorder = service("recorder", { requires: { bus: { consumes: [{ stream: "FLYTE_EVENTS", durable: "recorder" }] } } });
const users = busUsers([engine, demo, recorder, service("without-bus", {})]);

test("a service that does not use the bus has no bus user", () => {
  expect(Object.keys(users)).toEqual(["engine", "plugin-demo", "recorder"]);
});

test("a plugin service may use the consumers of its task types and may not create streams", () => {
  const { allow } = users["plugin-demo"]?.publish ?? { allow: [] };
  expect(allow).toContain("$JS.API.CONSUMER.DURABLE.CREATE.FLYTE_TASKS.plugin-demo");
  expect(allow).toContain("flyte.dead.plugin-demo.>");
  expect(allow.filter((subject) => /STREAM\.(CREATE|UPDATE|DELETE|PURGE|MSG)/.test(subject))).toEqual([]);
  expect(users["plugin-demo"]?.subscribe.allow).toEqual(["_INBOX.plugin-demo.>"]);
});

test("a wildcard of consumers excludes the consumers of other users", () => {
  const { allow, deny } = users.engine?.publish ?? { allow: [], deny: [] };
  expect(allow).toContain("$JS.ACK.FLYTE_EVENTS.*.>");
  expect(deny).toEqual(expect.arrayContaining(["$JS.ACK.FLYTE_EVENTS.recorder.>", "flyte.dead.recorder.>", "flyte.dead.plugin-demo.>"]));
  // The engine consumes nothing from FLYTE_TASKS, so its wildcard needs no exception for the
  // consumers of that stream.
  expect(deny.filter((subject) => subject.includes("FLYTE_TASKS"))).toEqual([]);
});

test("a service announces its own task types alone, whatever others may announce", () => {
  const any = service("plugin-any", { requires: { bus: { publishes: ["flyte.plugin.hello.*"] } } });
  const { "plugin-demo": own, "plugin-any": wildcard } = busUsers([demo, any]);
  expect(own?.publish.allow.filter((subject) => subject.startsWith("flyte.plugin."))).toEqual([
    "flyte.plugin.hello",
    "flyte.plugin.hello.demo",
  ]);
  expect(wildcard?.publish.deny).toEqual(["flyte.plugin.hello.demo"]);
});

test("a second wildcard takes nothing from the first", () => {
  const consumes = [{ stream: "FLYTE_TASKS", durable: "*" }];
  const { engine: first, "plugin-any": second } = busUsers([engine, demo, service("plugin-any", { requires: { bus: { consumes } } })]);
  expect(first?.publish.deny).not.toContain("flyte.dead.*.>");
  expect(second?.publish.allow).toContain("$JS.API.CONSUMER.DURABLE.CREATE.FLYTE_TASKS.*");
  expect(second?.publish.deny).toContain("$JS.API.CONSUMER.DURABLE.CREATE.FLYTE_TASKS.plugin-demo");
});

test("no user may read stored messages directly", () => {
  const all = Object.values(users).flatMap(({ publish }) => publish.allow);
  expect(all.filter((subject) => /STREAM\.(MSG|SNAPSHOT)|DIRECT\.GET/.test(subject))).toEqual([]);
});
