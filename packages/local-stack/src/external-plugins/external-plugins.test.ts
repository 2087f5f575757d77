import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineService } from "@flyte-ts/service-manifest";
import { expect, onTestFinished, test } from "vitest";
import { externalPluginManifests, readExternalPlugins, writeExternalPlugins } from "./external-plugins.js";

const echo = defineService({
  id: "plugin-echo",
  description: "A plugin of the stack.",
  plane: "local",
  taskTypes: ["echo"],
  configurableTaskTypes: ["sleep"],
});

test("external plugins become services of the bus", () => {
  const [own, other] = externalPluginManifests({ "plugin-own": ["one", "two"], "plugin-other": ["three"] }, [echo]);
  expect(own).toMatchObject({ id: "plugin-own", taskTypes: ["one", "two"], requires: { bus: {} } });
  expect(other?.taskTypes).toEqual(["three"]);
});

test.each([
  [{ "plugin-echo": ["one"] }, "plugin-echo is a service of the stack"],
  [{ "plugin-own": ["echo"] }, "task type echo of plugin-own belongs to plugin-echo"],
  [{ "plugin-own": ["sleep"] }, "task type sleep of plugin-own belongs to plugin-echo"],
  [{ "plugin-own": ["one"], "plugin-other": ["one"] }, "task type one of plugin-other belongs to plugin-own"],
  [{ own: ["one"] }, "their ids begin with plugin-"],
  [{ "plugin-own": ["a.*"] }, "a task type is a token of a bus subject"],
])("%j is refused", (plugins, why) => {
  expect(() => externalPluginManifests(plugins, [echo])).toThrow(why);
});

test("the file may be absent, and a damaged one is named", () => {
  const folder = mkdtempSync(join(tmpdir(), "external-plugins-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "external-plugins.json");
  expect(readExternalPlugins(file)).toEqual({});
  writeExternalPlugins(file, { "plugin-own": ["one"] });
  expect(readExternalPlugins(file)).toEqual({ "plugin-own": ["one"] });
  writeFileSync(file, "{");
  expect(() => readExternalPlugins(file)).toThrow(`${file} is damaged`);
});
