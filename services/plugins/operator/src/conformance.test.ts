import { pluginConformance } from "@flyte-ts/task-plugin/harness";
import { describe, expect, it } from "vitest";
import { manifest } from "./manifest.js";
import { OperatorWorld } from "./simulation/operator-world.js";

describe.each(manifest.taskTypes)("%s tasks pass the conformance cases of plugins", (taskType) => {
  it.each(pluginConformance(() => new OperatorWorld(taskType)))("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
