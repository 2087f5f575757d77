import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { constructCases } from "../examples/construct-cases.js";
import { exampleCases } from "../examples/example-cases.js";
import { ExampleRuns } from "../examples/example-runs.js";
import { failingPodCases } from "./failing-pod-cases.js";
import { Logind } from "./logind.js";
import { skipRealNodeReason, type StackOnNode, startStackOnNode } from "./node-fixture.js";
import { PodOutcomes } from "./pod-outcomes.js";
import { trainingCases } from "./training-cases.js";

// All cases are in one file, because a machine can be one node at a time.

const KUBELET = {
  shutdownGracePeriod: "6s",
  shutdownGracePeriodCriticalPods: "1s",
  nodeLeaseDurationSeconds: 8,
  nodeStatusUpdateFrequency: "2s",
};
/** Timeout of one execution, ms: two cores run all pods. */
const TIMEOUT_MS = 600_000;

describe.skipIf(skipRealNodeReason)("on a real node", () => {
  let folder: string;
  let logind: Logind;
  let stack: StackOnNode;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "flyte-ts-logind-"));
    logind = await Logind.start(folder);
    stack = await startStackOnNode({
      flags: ["--kubelet", JSON.stringify(KUBELET), "--controllers=--node-monitor-grace-period=20s"],
      environment: { ...logind.environment, FLYTE_TS_PLUGIN_POD_GRACES__IMAGE_PULL_BACK_OFF_MS: "3000" },
    });
    // The namespace of executions is created with the first of them.
    const pods = new PodOutcomes(stack);
    await pods.run("first", "true");
    pods.close();
  }, 900_000);
  afterAll(async () => {
    await stack?.stop();
    await logind?.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 120_000);

  /** All Python examples, on the stack that the other cases use. */
  const examples = () => ExampleRuns.start(Promise.resolve({ ...stack, stop: () => Promise.resolve(0) }));

  describe("the training workflow", () => {
    trainingCases(() => stack);
  });
  describe("examples", () => {
    exampleCases(examples, TIMEOUT_MS);
  });
  describe("constructs of flytekit", () => {
    constructCases(examples, TIMEOUT_MS);
  });
  describe("failing pods", () => {
    failingPodCases(() => ({ stack, logind }));
  });
});
