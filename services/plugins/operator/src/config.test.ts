import { describe, expect, it } from "vitest";
import { controllerSettings, operatorServiceConfig } from "./config.js";
import { manifest } from "./manifest.js";

const nats = { url: "" };

describe("the service's configuration", () => {
  it("runs all operators by default, and those that a deployment lists", () => {
    const taskTypes = (settings: object) =>
      controllerSettings(operatorServiceConfig.parse({ nats, ...settings })).operators.map(({ taskType }) => taskType);
    expect(taskTypes({})).toEqual(manifest.taskTypes);
    expect(taskTypes({ taskTypes: ["spark", "ray"] })).toEqual(["ray", "spark"]);
  });

  it("has Go Flyte's defaults", () => {
    const { operatorTimeoutMs, ray, graces } = operatorServiceConfig.parse({ nats });
    expect(operatorTimeoutMs).toBe(60_000);
    expect(ray).toMatchObject({ shutdownAfterJobFinishes: true, ttlSecondsAfterFinished: 3_600, serviceType: "NodePort" });
    expect(graces.imagePullBackOffMs).toBe(180_000);
  });

  it("rejects unknown task types and keys", () => {
    expect(operatorServiceConfig.safeParse({ nats, taskTypes: ["python-task"] }).success).toBe(false);
    expect(operatorServiceConfig.safeParse({ nats, ray: { colour: "red" } }).success).toBe(false);
  });
});
