import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { writeWheel } from "@flyte-ts/testing";
import type { FlyteClient } from "@flyte-ts/client";
import { TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitForEnd } from "../stack/executions.js";
import { registerShellWorkflow } from "../stack/shell-tasks.js";
import { type RunningStack, runPython, startStack } from "../stack/stack-fixture.js";
import { type StackClient, connectToStack } from "../stack/use-stack.js";
import { root } from "../repository.js";
import { builtProgram } from "../stack/built-program.js";

const example = join(root, "examples", "python", "example.py");
const scope = { project: "flytesnacks", domain: "development" };
const kubectlExists = spawnSync("kubectl", ["version", "--client"]).status === 0;

let stack: RunningStack;
let client: FlyteClient;
let folder: string;
let close: StackClient["close"];

beforeAll(async () => {
  stack = await startStack();
  ({ client, folder, close } = connectToStack(stack));
}, 300_000);
afterAll(() => close(), 60_000);

/** Runs a program of the Python environment in a folder without configuration. */
function python(program: string, ...args: string[]): string {
  return runPython({ stack, folder }, program, args);
}

function kubectl(...args: string[]): string {
  return execFileSync("kubectl", ["--kubeconfig", stack.kubeconfig, "-n", "flytesnacks-development", ...args], { encoding: "utf8" });
}

describe("the training workflow, submitted by pyflyte", () => {
  let name: string;

  test("succeeds", async () => {
    const printed = python("pyflyte", "run", "--remote", example, "training_workflow", "--hyperparameters", '{"C": 0.4}');
    name = /executions\/([a-z0-9-]+)/.exec(printed)?.[1] ?? "";
    const execution = await waitForEnd(client, { ...scope, name }, 90_000);
    expect(WorkflowExecution_Phase[execution.closure?.phase ?? 0]).toBe("SUCCEEDED");
  }, 120_000);

  test("FlyteRemote fetches it, syncs its nodes and reads its outputs", () => {
    const seen = JSON.parse(python("python", join(root, "conformance", "python", "read_execution.py"), `localhost:${stack.api}`, name)) as {
      phase: number;
      done: boolean;
      successful: boolean;
      nodes: Record<string, { tasks: number[]; outputs: string[] }>;
      outputs: Record<string, number>;
    };
    expect(seen).toMatchObject({ phase: WorkflowExecution_Phase.SUCCEEDED, done: true, successful: true });
    const ran = { tasks: [TaskExecution_Phase.SUCCEEDED], outputs: ["o0"] };
    expect(seen.nodes).toMatchObject({ n0: ran, n1: ran, n2: ran });
    expect(seen.outputs.accuracy).toBeGreaterThan(0.8);
  }, 60_000);

  test.runIf(kubectlExists)("kubectl shows the resource, its graph and its phases", async () => {
    expect(kubectl("get", "flyteworkflows.flyte.lyft.com")).toMatch(new RegExp(`^NAME +AGE\\s*\\n${name} +\\d+m?\\d*s`));
    const resource = JSON.parse(kubectl("get", "flyteworkflows.flyte.lyft.com", name, "-o", "json")) as {
      spec: { connections: Record<string, string[]> };
      status: { phase: number; nodeStatus: Record<string, { phase: number }> };
    };
    expect(resource.spec.connections).toEqual({ "start-node": ["n0", "n2"], n0: ["n1"], n1: ["n2"], n2: ["end-node"] });
    expect(Object.values(resource.status.nodeStatus).map(({ phase }) => phase)).toEqual([5, 5, 5, 5, 5]);
    const describe = () => kubectl("describe", "flyteworkflows.flyte.lyft.com", name);
    expect(describe()).toMatch(/Connections:\s+n0:\s+n1/);
    // Poll, because the status also contains outputs and other fields until admin has recorded the
    // end.
    await expect.poll(describe, { timeout: 30_000 }).toMatch(/Node Status:[\s\S]*n2:\s+Phase: +5/);
  });

  test.runIf(kubectlExists)("kubectl shows its pods and their logs", () => {
    expect(kubectl("get", "pods")).toMatch(new RegExp(`${name}-n0-0 +0/1 +Completed +0`));
    expect(kubectl("logs", `${name}-n0-0`)).toBeTypeOf("string");
  });
});

test.runIf(kubectlExists)(
  "a deleted pod is a system failure that is retried",
  async () => {
    const launchPlan = await registerShellWorkflow(client, "deleted-by-hand", [
      { id: "n0", script: 'echo "attempt $FLYTE_ATTEMPT_NUMBER runs"; [ "$FLYTE_ATTEMPT_NUMBER" = 1 ] || sleep 120', after: [] },
    ]);
    const id = { ...scope, name: "deletedbyhand" };
    await client.admin.createExecution({ ...id, spec: { launchPlan, metadata: {} }, inputs: {} });
    const running = () => /Running/.test(kubectl("get", "pods"));
    for (let waited = 0; !running() && waited < 30_000; waited += 200) await sleep(200);
    kubectl("delete", "pod", "deletedbyhand-n0-0", "--wait=false");
    const execution = await waitForEnd(client, id, 60_000);
    expect(WorkflowExecution_Phase[execution.closure?.phase ?? 0]).toBe("SUCCEEDED");
    const nodeExecutionId = { executionId: execution.id, nodeId: "n0" };
    const { taskExecutions } = await client.admin.listTaskExecutions({
      nodeExecutionId,
      limit: 10,
      sortBy: { key: "created_at", direction: 1 },
    });
    const seen = taskExecutions.map(({ closure }) => [
      TaskExecution_Phase[closure?.phase ?? 0],
      closure?.outputResult.case === "error" ? `${closure.outputResult.value.kind}` : "",
    ]);
    expect(seen).toEqual([
      ["FAILED", "2"],
      ["SUCCEEDED", ""],
    ]);
    expect(kubectl("logs", "deletedbyhand-n0-1")).toContain("attempt 1 runs");
  },
  120_000,
);

const NEEDS_A_PACKAGE = `
from flytekit import task, workflow

@task
def answer() -> int:
    import tiny_answer
    return tiny_answer.ANSWER

@workflow
def needs_a_package() -> int:
    return answer()
`;

test("a package installed while the stack runs is available to its next task only", async () => {
  const wheel = writeWheel(folder, "tiny_answer", "ANSWER = 42\n");
  const words = [builtProgram(join(root, "packages/cli")), "python", "install", "--data", stack.folder, wheel];
  expect(execFileSync(process.execPath, words, { encoding: "utf8" })).toContain("  tiny_answer==1.0\n");
  expect(() => python("python", "-c", "import tiny_answer")).toThrow("No module named 'tiny_answer'");
  const source = join(folder, "needs_a_package.py");
  writeFileSync(source, NEEDS_A_PACKAGE);
  const printed = python("pyflyte", "run", "--remote", source, "needs_a_package");
  const name = /executions\/([a-z0-9-]+)/.exec(printed)?.[1] ?? "";
  const execution = await waitForEnd(client, { ...scope, name }, 120_000);
  expect([WorkflowExecution_Phase[execution.closure?.phase ?? 0], execution.closure?.outputResult.case]).toEqual(["SUCCEEDED", "outputs"]);
}, 300_000);
