import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { examplesFolder, scope } from "../examples/example-runs.js";
import { waitForEnd } from "../stack/executions.js";
import { runPython } from "../stack/stack-fixture.js";
import type { StackOnNode } from "./node-fixture.js";
import { NAMESPACE } from "./pod-outcomes.js";
import { timelineOf } from "./timeline.js";

/** Runs the training workflow in three real pods. */
export function trainingCases(onNode: () => StackOnNode): void {
  let stack: StackOnNode;
  let client: FlyteClient;
  let folder: string;

  beforeAll(() => {
    stack = onNode();
    client = createFlyteClient({ endpoint: `${stack.host}:${stack.api}` });
    folder = mkdtempSync(join(tmpdir(), "flyte-ts-elsewhere-"));
    cpSync(examplesFolder, folder, { recursive: true });
  });
  afterAll(() => {
    client.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = async () => {
    const args = ["run", "--remote", "example.py", "training_workflow", "--hyperparameters", '{"C": 0.4}'];
    const name = /executions\/([a-z0-9-]+)/.exec(runPython({ stack, folder }, "pyflyte", args))?.[1] ?? "";
    const execution = await waitForEnd(client, { ...scope, name }, 300_000);
    return { name, execution };
  };

  test("succeeds; kubectl shows its workflow, its pods and their logs", async () => {
    const { name, execution } = await run();
    expect(WorkflowExecution_Phase[execution.closure?.phase ?? 0]).toBe("SUCCEEDED");
    const kubectl = (...args: string[]) => stack.kubectl("-n", NAMESPACE, ...args);
    expect(kubectl("get", "flyteworkflows.flyte.lyft.com")).toContain(name);
    expect(kubectl("describe", "flyteworkflows.flyte.lyft.com", name)).toContain("training_workflow");
    const pods = kubectl("get", "pods", "-l", `execution-id=${name}`, "--no-headers").trim().split("\n");
    expect(pods.map((line) => line.split(/\s+/).slice(0, 3))).toEqual(
      ["n0", "n1", "n2"].map((node) => [`${name}-${node}-0`, "0/1", "Completed"]),
    );
    expect(kubectl("describe", "pod", `${name}-n0-0`)).toMatch(/Status:\s+Succeeded[^]*Normal\s+Started/);
    expect(kubectl("logs", `${name}-n2-0`)).not.toContain("Traceback");
  }, 400_000);

  // `TIMELINES=10` runs it ten times and prints how long each phase takes, for docs/benchmarks.md,
  // without assertions.
  test.skipIf(process.env.TIMELINES === undefined)(
    "the times of its phases are printed",
    async () => {
      for (let round = 0; round < Number(process.env.TIMELINES); round++) {
        const { execution } = await run();
        expect(WorkflowExecution_Phase[execution.closure?.phase ?? 0]).toBe("SUCCEEDED");
        process.stderr.write(`${JSON.stringify(await timelineOf(client, stack, execution))}\n`);
      }
    },
    3_000_000,
  );
}
