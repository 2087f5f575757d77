import { pluginConformance } from "@flyte-ts/task-plugin/harness";
import { describe, expect, it } from "vitest";
import { manifest } from "./manifest.js";
import { OperatorWorld } from "./simulation/operator-world.js";

// A restart between FINALIZE and the deferred deletion reports the end again.
// With no time to settle the job is deleted at once.
describe.each(manifest.taskTypes)("%s tasks pass the conformance cases of plugins", (taskType) => {
  it.each(pluginConformance(() => new OperatorWorld(taskType, { creationSettlesWithinMs: 0 })))("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
