import { pluginConformance } from "@flyte-ts/task-plugin/harness";
import { describe, expect, it } from "vitest";
import { athenaWorld, batchWorld, bigQueryWorld, hiveWorld, trinoWorld } from "./stand-in/worlds.fixture.js";

describe.each([
  ["Athena", athenaWorld],
  ["AWS Batch", batchWorld],
  ["BigQuery", bigQueryWorld],
  ["HiveServer2", hiveWorld],
  ["Trino", trinoWorld],
])("%s keeps the contract of plugins", (_, world) => {
  it.each(pluginConformance(world))("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
