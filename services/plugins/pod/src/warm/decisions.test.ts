import { buildPod } from "@flyte-ts/pod-task";
import { describe, expect, it } from "vitest";
import { config } from "../simulation/pod-world.js";
import { warmRequest } from "../simulation/warm-world.js";
import { Demand } from "./demand.js";
import { warmPodSettings } from "./settings.js";
import { warmModeOf } from "./warm-mode.js";

const pod = (env: Record<string, string> = {}, annotations: Record<string, string> = {}) => {
  const built = buildPod(warmRequest(), { config: config.pods });
  const variables = Object.entries(env).map(([name, value]) => ({ name, value }));
  const containers = built.spec.containers.map((each) => ({ ...each, env: [...(each.env ?? []), ...variables] }));
  return { ...built, metadata: { ...built.metadata, annotations }, spec: { ...built.spec, containers } };
};

describe("an attempt wants a warm pod", () => {
  it.each([
    [{}, true],
    [{ project: "p", domain: "development", taskType: "python-task", imagePrefix: "example/", labels: { "node-id": "n0" } }, true],
    [{ project: "q" }, false],
    [{ domain: "production" }, false],
    [{ taskType: "sidecar" }, false],
    [{ imagePrefix: "other/" }, false],
    [{ labels: { "node-id": "n1" } }, false],
  ])("by the rule %j: %s", (rule, wanted) => {
    expect(warmModeOf(pod(), warmRequest(), warmPodSettings.parse({ rules: [rule] }))).toBe(wanted ? "prewarmed" : undefined);
  });

  it("by its author, who decides against rules as well", () => {
    const rules = warmPodSettings.parse({ rules: [{}] });
    const none = warmPodSettings.parse({});
    expect(warmModeOf(pod(), warmRequest(), none)).toBeUndefined();
    expect(warmModeOf(pod({ FLYTE_TS_WARM_PODS: "true" }), warmRequest(), none)).toBe("prewarmed");
    expect(warmModeOf(pod({}, { "flyte.org/warm-pods": "true" }), warmRequest(), none)).toBe("prewarmed");
    expect(warmModeOf(pod({ FLYTE_TS_WARM_PODS: "false" }), warmRequest(), rules)).toBeUndefined();
    expect(warmModeOf(pod({ FLYTE_TS_WARM_PODS: "reused" }), warmRequest(), rules)).toBe("reused");
    expect(warmModeOf(pod({ FLYTE_TS_WARM_PODS: "perhaps" }), warmRequest(), rules)).toBe("prewarmed");
  });
});

describe("the mode of a warm pod", () => {
  const rules = warmPodSettings.parse({ rules: [{ project: "q" }, { mode: "reused", domain: "development" }, {}] });

  it("is that of the first rule that matches, unless the author names one", () => {
    expect(warmModeOf(pod(), warmRequest(), rules)).toBe("reused");
    expect(warmModeOf(pod({ FLYTE_TS_WARM_PODS: "true" }), warmRequest(), rules)).toBe("reused");
    expect(warmModeOf(pod({ FLYTE_TS_WARM_PODS: "prewarmed" }), warmRequest(), rules)).toBe("prewarmed");
  });
});

describe("the number of idle pods", () => {
  const demand = () => new Demand({ minIdle: 1, maxIdle: 4, keepMs: 60_000 });

  it("is that of the largest burst, between the limits, and 0 without recent starts", () => {
    const starts = demand();
    expect([starts.target(0), starts.isOver(0)]).toEqual([0, true]);
    starts.add(0);
    expect(starts.target(0)).toBe(1);
    for (const time of [20_000, 21_000, 22_000]) starts.add(time);
    expect(starts.target(22_000)).toBe(3);
    for (let i = 0; i < 9; i++) starts.add(23_000);
    expect(starts.target(23_000)).toBe(4);
    expect([starts.target(83_001), starts.isOver(83_001)]).toEqual([0, true]);
  });

  it("is the number of reused pods that were in use at once", () => {
    const starts = demand();
    for (const inUse of [1, 1, 3, 1]) starts.add(0, inUse);
    expect([starts.target(1), starts.peak(1)]).toEqual([3, 3]);
    expect(starts.peak(60_001)).toBe(0);
  });

  it("keeps pods of an earlier process for the same time", () => {
    const starts = demand();
    starts.inherit(3, 0);
    expect([starts.target(60_000), starts.target(60_001)]).toEqual([3, 0]);
  });
});
