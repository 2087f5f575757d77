import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import type { FlyteClient } from "@flyte-ts/client";
import { NodeExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { kubernetesSkipReason } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitForEnd } from "../stack/executions.js";
import { faultRounds } from "../faults/fault-rounds.js";
import { runPython, type RunningStack, startStackOnKubernetes, WARM_PYTHON_DEFAULTS } from "../stack/stack-fixture.js";
import { type StackClient, connectToStack } from "../stack/use-stack.js";
import { root } from "../repository.js";

const examples = join(root, "examples", "python");
const scope = { project: "flytesnacks", domain: "development" };
const namespace = "flytesnacks-development";

describe.skipIf(await kubernetesSkipReason())("the stack on a real Kubernetes API", () => {
  let stack: RunningStack;
  let client: FlyteClient;
  let folder: string;
  let close: StackClient["close"];

  beforeAll(async () => {
    stack = await startStackOnKubernetes(["--no-example"], WARM_PYTHON_DEFAULTS);
    ({ client, folder, close } = connectToStack(stack));
    cpSync(examples, folder, { recursive: true });
  }, 300_000);
  afterAll(() => close(), 60_000);

  const kubectl = (...args: string[]) =>
    execFileSync("kubectl", ["--kubeconfig", stack.kubeconfig, "-n", namespace, ...args], { encoding: "utf8" });

  async function run(file: string, workflow: string, ...inputs: string[]): Promise<{ name: string; phase: string }> {
    const output = runPython({ stack, folder }, "pyflyte", ["run", "--remote", file, workflow, ...inputs]);
    const name = /executions\/([a-z0-9-]+)/.exec(output)?.[1] ?? "";
    const execution = await waitForEnd(client, { ...scope, name }, 90_000);
    return { name, phase: WorkflowExecution_Phase[execution.closure?.phase ?? 0] ?? "" };
  }

  test("runs the training example with unmodified pyflyte, and kubectl shows its workflow", async () => {
    const { name, phase } = await run("example.py", "training_workflow", "--hyperparameters", '{"C": 0.4}');
    expect(phase).toBe("SUCCEEDED");
    const { nodeExecutions } = await client.admin.listNodeExecutions({ workflowExecutionId: { ...scope, name }, limit: 100 });
    const phases = Object.fromEntries(nodeExecutions.map((node) => [node.id?.nodeId, NodeExecution_Phase[node.closure?.phase ?? 0]]));
    expect(phases).toMatchObject({ n0: "SUCCEEDED", n1: "SUCCEEDED", n2: "SUCCEEDED" });
    const workflow = JSON.parse(kubectl("get", "flyteworkflows.flyte.lyft.com", name, "-o", "json")) as {
      status: { nodeStatus: Record<string, { phase: number }> };
    };
    expect(Object.keys(workflow.status.nodeStatus)).toEqual(expect.arrayContaining(["n0", "n1", "n2"]));
    // The workflow owns the pods: the cluster's garbage collector deletes them with it, and learns
    // of new kinds every 30 s.
    expect(kubectl("get", "pods", "-o", "name")).toContain(name);
    kubectl("delete", "flyteworkflows.flyte.lyft.com", name, "--wait=true", "--timeout=20s");
    kubectl("wait", "--for=delete", "pods", "--all", "--timeout=90s");
  }, 180_000);

  test("branches, sub-workflows and retries end as on the local cluster", async () => {
    const runs = await Promise.all([
      run("branch.py", "collatz_step", "--n", "10"),
      run("branch.py", "sized", "--n", "500"),
      run("subworkflow.py", "sum_of_five"),
      run("failures.py", "recovers"),
    ]);
    expect(runs.map(({ phase }) => phase)).toEqual(["SUCCEEDED", "FAILED", "SUCCEEDED", "SUCCEEDED"]);
  }, 180_000);

  faultRounds({ parts: ["propeller", "kube-apiserver", "node-runner", "etcd"], rounds: 4, stack: () => stack });
});
