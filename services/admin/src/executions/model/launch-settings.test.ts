import { create } from "@bufbuild/protobuf";
import { WorkflowExecutionConfigSchema } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import { IdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { expect, test } from "vitest";
import { decodeLaunchSettings, encodeLaunchSettings } from "./launch-settings.js";

const texts = { cpu: "1", memory: "", ephemeralStorage: "", gpu: "" };
const settings = {
  workflow: create(IdentifierSchema, { name: "w" }),
  config: create(WorkflowExecutionConfigSchema),
  pluginOverrides: [],
  queue: "",
};

test.each([
  { defaults: texts, limits: texts },
  { defaults: texts, defaultLimits: { cpu: "4", memory: "", ephemeralStorage: "" }, limits: texts },
])("settings are stored with the row and read back: %j", (resources) => {
  expect(decodeLaunchSettings(JSON.parse(encodeLaunchSettings({ ...settings, resources }))).resources).toEqual(resources);
});

test("the queue is kept with the row, and rows of earlier versions have none", () => {
  const resources = { defaults: texts, limits: texts };
  const encoded = encodeLaunchSettings({ ...settings, resources, queue: "q" });
  expect(decodeLaunchSettings(JSON.parse(encoded)).queue).toBe("q");
  const earlier = JSON.parse(encodeLaunchSettings({ ...settings, resources }));
  expect(earlier).not.toHaveProperty("queue");
  expect(decodeLaunchSettings(earlier).queue).toBe("");
});
