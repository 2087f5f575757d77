import { describe, expect, it } from "vitest";
import { podServiceConfig } from "./config.js";

describe("the service's configuration", () => {
  it("accepts the settings of the local stack and adds Go Flyte's defaults", () => {
    const config = podServiceConfig.parse({
      logLevel: "info",
      ops: { host: "127.0.0.1", port: 1 },
      nats: { url: "nats://127.0.0.1:4222" },
      kubernetes: { kubeconfig: "/tmp/kubeconfig" },
      storage: { s3: { endpoint: "http://127.0.0.1:30002", region: "us-east-1", accessKeyId: "minio", secretAccessKey: "miniostorage" } },
    });
    expect(config.graces).toEqual({
      createContainerErrorMs: 180_000,
      createContainerConfigErrorMs: 0,
      imagePullBackOffMs: 180_000,
      podPendingMs: 0,
    });
    expect(config.pods.metadata.annotations).toEqual({ "cluster-autoscaler.kubernetes.io/safe-to-evict": "false" });
    expect(config.limits).toEqual({ maxOutputBytes: 10_485_760, inlineBytes: 8_192 });
    // Clean-up after an eager workflow has its own task type in flytekit.
    expect(config.taskTypes).toContain("eager_failure_handler_task");
  });

  it("rejects unknown keys at any depth", () => {
    const nats = { url: "" };
    expect(podServiceConfig.safeParse({ nats, colour: "red" }).success).toBe(false);
    expect(podServiceConfig.safeParse({ nats, pods: { scheduling: { colour: "red" } } }).success).toBe(false);
  });
});
