import { createLogger } from "@flyte-ts/telemetry";
import { create } from "@bufbuild/protobuf";
import { ManualTime } from "@flyte-ts/async/manual-time";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { MemoryStore, sampleRequest } from "@flyte-ts/task-plugin/harness";
import { describe, expect, it } from "vitest";
import { controllerSettings, podServiceConfig } from "./config.js";
import { podPlugin } from "./plugin.js";
import { PodController } from "./pod-controller.js";
import { SimulatedCluster } from "./simulation/simulated-cluster.js";

const config = podServiceConfig.parse({ nats: { url: "" }, warningEvents: false, onePod: { taskTypes: ["spark", "dask"] } });

async function submit(type: string, custom: { applicationType?: string } = {}) {
  const clock = new ManualTime();
  const controller = new PodController({
    ...controllerSettings(config),
    config: config.pods,
    client: new SimulatedCluster(() => clock),
    store: new MemoryStore(),
    archive: { archive: () => [], waitUntilArchived: () => Promise.resolve() },
    clock,
    logger: createLogger({ service: "test", level: "silent" }),
  });
  const plugin = podPlugin(controller, config);
  await plugin.start?.({ publishStatus: () => Promise.resolve(), setTaskTypes: () => Promise.resolve() });
  const template = create(TaskTemplateSchema, { type, custom, target: { case: "container", value: { image: "i", args: ["run"] } } });
  try {
    return await plugin.reconcile(sampleRequest(type, { template }));
  } finally {
    await plugin.stop?.();
  }
}

describe("tasks of operators as one pod", () => {
  it("are served where the setting names their type, under the name of their plugin", () => {
    const plugin = podPlugin({} as PodController, config);
    expect(plugin.taskTypes).toEqual([...config.taskTypes, "spark", "dask"]);
    expect(["spark", "dask", "ray", "sidecar", "python-task"].map((type) => plugin.pluginIdentifierFor?.(type))).toEqual([
      "spark",
      "dask",
      "container",
      "sidecar",
      "container",
    ]);
    expect(podServiceConfig.parse({ nats: { url: "" } }).onePod.taskTypes).toEqual([]);
  });

  it("say so when they are submitted", async () => {
    expect(await submit("spark")).toMatchObject({
      phase: "QUEUED",
      reason: "task submitted to K8s, runs as one pod: no Spark operator",
      customInfo: { mode: "runs as one pod: no Spark operator" },
    });
    expect(await submit("python-task")).toMatchObject({ phase: "QUEUED", reason: "task submitted to K8s" });
  });

  it("fail for good when they need an operator", async () => {
    await expect(submit("spark", { applicationType: "SCALA" })).rejects.toMatchObject({
      name: "PermanentFailure",
      message: expect.stringContaining("runs Python functions only") as string,
    });
  });
});
