import { expect, test } from "vitest";
import { defineService } from "./define-service.js";
import type { ServiceManifestInput } from "./manifest-schema.js";

const PLUGIN: ServiceManifestInput = {
  id: "plugin-demo",
  description: "Demonstrates.",
  plane: "data",
  taskTypes: ["demo"],
  requires: { bus: {} },
  kubernetes: { resources: { requests: { cpu: "50m", memory: "96Mi" }, limits: { memory: "512Mi" } } },
};

test("a plugin service declares its task types, requirements and resources; all other fields have defaults", () => {
  expect(defineService(PLUGIN)).toMatchObject({
    optional: false,
    ports: [],
    permissions: [],
    image: { target: "service" },
    kubernetes: { kind: "Deployment", replicas: 2, podFields: {} },
    settings: { kubernetes: {}, compose: {} },
  });
});

test.each<[string, Partial<ServiceManifestInput> & Record<string, unknown>, RegExp]>([
  ["an id in capitals", { id: "Demo" }, /manifest of service Demo:[^]*lower-case words/],
  ["an unknown field", { replicas: 3 }, /Unrecognized key: "replicas"/],
  ["a service without a workload", { kubernetes: undefined }, /have a workload/],
  ["task types of a service that is not a plugin", { id: "demo" }, /ids begin with plugin-/],
  ["an optional service of the control plane", { optional: true, plane: "control" }, /only services of the data plane/],
  ["a peer of an unknown kind", { connects: { "a.url": "ftp" as "https" } }, /connects\["a.url"\]|connects/],
  [
    "a rarely used verb that the rule does not grant",
    { permissions: [{ scope: "cluster", resources: ["pods"], verbs: ["get"], reason: "Reads.", rareVerbs: { list: "never" } }] },
    /rareVerbs names verbs of the rule/,
  ],
  [
    "a rule without a reason",
    { permissions: [{ scope: "cluster", resources: ["pods"], verbs: ["get"], reason: "" }] },
    /permissions\[0\]\.reason/,
  ],
])("%s is rejected with the service and the field", (_, change, message) => {
  expect(() => defineService({ ...PLUGIN, ...change })).toThrow(message);
});
