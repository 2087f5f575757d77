import { dataPlaneScope, encodeHeartbeat, type PluginHeartbeat, pluginHelloSubject, taskTypeHelloSubject } from "@flyte-ts/bus-contract";
import { beforeEach, expect, test } from "vitest";
import { PluginServices } from "./plugin-services.js";

let now = 1_000_000;
let services: PluginServices;

beforeEach(() => {
  now = 1_000_000;
  services = new PluginServices(() => now);
});

function hear(heartbeat: Partial<PluginHeartbeat>, { cluster = "", taskType = heartbeat.taskTypes?.[0] ?? "" } = {}): void {
  const subject = taskTypeHelloSubject(taskType);
  const whole = { name: "plugin-pod", instance: "a", uptimeMs: 60_000, taskTypes: [], ...heartbeat };
  services.receive(dataPlaneScope(cluster)?.subject(subject) ?? subject, encodeHeartbeat(whole));
}

test("a service has the task types of all its replicas, and each replica its load", () => {
  hear({ taskTypes: ["python-task"], load: { attempts: 3, oldestRequestMs: 4_000 } });
  hear({ taskTypes: ["sidecar"], load: { attempts: 3, oldestRequestMs: 4_000 } });
  now += 5_000;
  hear({ taskTypes: ["container"], instance: "b", uptimeMs: 2_000, load: { attempts: 0, oldestRequestMs: 0 } });
  expect(services.list()).toEqual([
    {
      name: "plugin-pod",
      cluster: "",
      taskTypes: ["container", "python-task", "sidecar"],
      replicas: [
        {
          name: "plugin-pod",
          cluster: "",
          instance: "b",
          startedMs: 1_003_000,
          heardMs: 1_005_000,
          attempts: 0,
          oldestRequestMs: undefined,
        },
        { name: "plugin-pod", cluster: "", instance: "a", startedMs: 940_000, heardMs: 1_000_000, attempts: 3, oldestRequestMs: 996_000 },
      ].map((replica) => expect.objectContaining(replica) as unknown),
    },
  ]);
});

test("services of several data planes are distinguished", () => {
  hear({ taskTypes: ["python-task"] });
  hear({ taskTypes: ["python-task"] }, { cluster: "east.1" });
  hear({ name: "plugin-echo", taskTypes: ["echo"] }, { cluster: "east.1" });
  expect(services.list().map(({ cluster, name }) => [cluster, name])).toEqual([
    ["", "plugin-pod"],
    ["east.1", "plugin-echo"],
    ["east.1", "plugin-pod"],
  ]);
});

test("types that a process serves later are of the same replica, which keeps its start", () => {
  hear({ taskTypes: ["one"] });
  hear({ taskTypes: ["two"], instance: "a/1", uptimeMs: 5 });
  const [service] = services.list();
  expect(service?.taskTypes).toEqual(["one", "two"]);
  expect(service?.replicas).toMatchObject([{ instance: "a", startedMs: 940_000 }]);
});

test("a replica of a version that does not tell its load is listed without it", () => {
  hear({ taskTypes: ["python-task"] });
  expect(services.list()[0]?.replicas).toMatchObject([{ attempts: undefined, oldestRequestMs: undefined }]);
});

test("a replica that is silent is listed for an hour", () => {
  hear({ taskTypes: ["python-task"] });
  now += 3_600_000;
  expect(services.list()).toHaveLength(1);
  now += 1;
  expect(services.list()).toEqual([]);
});

test("a heartbeat on the subject of another type, a huge name and a malformed one are ignored", () => {
  hear({ taskTypes: ["python-task"] }, { taskType: "echo" });
  hear({ taskTypes: ["python-task"], name: "n".repeat(201) });
  services.receive(taskTypeHelloSubject("python-task"), new TextEncoder().encode("{"));
  services.receive(pluginHelloSubject, encodeHeartbeat({ name: "old", instance: "a", uptimeMs: 1, taskTypes: ["python-task"] }));
  expect(services.list()).toEqual([]);
});

test("invented replicas and types are bounded", () => {
  for (let index = 0; index < 1_100; index++) hear({ taskTypes: ["python-task"], instance: `i${index}` });
  for (let index = 0; index < 300; index++) hear({ name: "many", taskTypes: [`type-${index}`] });
  expect(services.list().map(({ name, replicas, taskTypes }) => [name, replicas.length, taskTypes.length])).toEqual([
    ["many", 1, 200],
    ["plugin-pod", 999, 1],
  ]);
});
