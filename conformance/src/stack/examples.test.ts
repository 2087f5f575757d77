import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import type { Execution } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { NodeExecution_Phase, TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Literal } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitForEnd } from "./executions.js";
import { type RunningStack, runPython, startStack } from "./stack-fixture.js";

const examples = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "examples", "python");
const scope = { project: "flytesnacks", domain: "development" };

let stack: RunningStack;
let client: FlyteClient;
let elsewhere: string;

beforeAll(async () => {
  stack = await startStack();
  client = createFlyteClient({ endpoint: `127.0.0.1:${stack.api}` });
  elsewhere = mkdtempSync(join(tmpdir(), "flyte-ts-elsewhere-"));
  pyflyte("register", "--version", "v1", examples);
}, 300_000);
afterAll(async () => {
  client.close();
  rmSync(elsewhere, { recursive: true, force: true });
  await stack.stop();
}, 60_000);

/** Stock pyflyte, in a folder without configuration. */
function pyflyte(...args: string[]): string {
  return runPython({ stack, folder: elsewhere }, "pyflyte", args);
}

async function runWorkflow(
  name: string,
  inputs: Record<string, Literal> = {},
): Promise<{ phase: string; execution: Execution; outputs: Record<string, unknown> }> {
  const launchPlan = { ...scope, resourceType: ResourceType.LAUNCH_PLAN, name, version: "v1" };
  const { id } = await client.admin.createExecution({ ...scope, spec: { launchPlan, metadata: {} }, inputs: { literals: inputs } });
  const execution = await waitForEnd(client, { ...scope, name: id?.name ?? "" }, 90_000);
  const data = await client.admin.getExecutionData({ id: execution.id });
  const outputs = Object.fromEntries(Object.entries(data.fullOutputs?.literals ?? {}).map(([key, literal]) => [key, plain(literal)]));
  return { phase: WorkflowExecution_Phase[execution.closure?.phase ?? 0] ?? "", execution, outputs };
}

function integer(value: number): Literal {
  const primitive = { $typeName: "flyteidl.core.Primitive", value: { case: "integer", value: BigInt(value) } } as const;
  const scalar = { $typeName: "flyteidl.core.Scalar", value: { case: "primitive", value: primitive } } as const;
  return { $typeName: "flyteidl.core.Literal", value: { case: "scalar", value: scalar }, hash: "", metadata: {} };
}

function plain(literal: Literal): unknown {
  if (literal.value.case !== "scalar" || literal.value.value.value.case !== "primitive") return literal.value.case;
  const value: unknown = literal.value.value.value.value.value.value;
  return typeof value === "bigint" ? Number(value) : value;
}

async function nodePhases(execution: Execution, uniqueParentId = ""): Promise<Record<string, string>> {
  const { nodeExecutions } = await client.admin.listNodeExecutions({ workflowExecutionId: execution.id, limit: 100, uniqueParentId });
  return Object.fromEntries(nodeExecutions.map((node) => [node.id?.nodeId ?? "", NodeExecution_Phase[node.closure?.phase ?? 0] ?? ""]));
}

async function attempts(execution: Execution, nodeId: string): Promise<string[]> {
  const { taskExecutions } = await client.admin.listTaskExecutions({ nodeExecutionId: { executionId: execution.id, nodeId }, limit: 10 });
  return taskExecutions
    .sort((a, b) => (a.id?.retryAttempt ?? 0) - (b.id?.retryAttempt ?? 0))
    .map((task) => TaskExecution_Phase[task.closure?.phase ?? 0] ?? "");
}

function errorOf(execution: Execution): { code: string; message: string } {
  const result = execution.closure?.outputResult;
  return result?.case === "error" ? result.value : { code: "", message: "" };
}

test("pyflyte runs a script remotely and waits for it", () => {
  const output = pyflyte(
    "run",
    "--remote",
    "--wait",
    "--poll-interval",
    "1",
    join(examples, "example.py"),
    "training_workflow",
    "--hyperparameters",
    '{"C": 0.4}',
  );
  expect(output).toMatch(/Execution \S+ has succeeded/);
}, 120_000);

describe("branches", () => {
  test("each arm", async () => {
    expect(await runWorkflow("python.branch.collatz_step", { n: integer(10) })).toMatchObject({ phase: "SUCCEEDED", outputs: { o0: 5 } });
    expect(await runWorkflow("python.branch.sized", { n: integer(20) })).toMatchObject({ phase: "SUCCEEDED", outputs: { o0: 61 } });
  }, 120_000);

  test("no arm fits", async () => {
    const { phase, execution } = await runWorkflow("python.branch.sized", { n: integer(500) });
    expect(phase).toBe("FAILED");
    expect(errorOf(execution).message).toContain("n is too large");
  }, 120_000);
});

test("sub-workflows run inside their parent and show their nodes", async () => {
  const { phase, execution, outputs } = await runWorkflow("python.subworkflow.sum_of_five");
  expect([phase, outputs]).toEqual(["SUCCEEDED", { o0: 15 }]);
  expect(await nodePhases(execution, "n0")).toMatchObject({ "n0-0-n0": "SUCCEEDED", "n0-0-n1": "SUCCEEDED" });
}, 120_000);

describe("failures", () => {
  test("a task that fails twice and then succeeds", async () => {
    const { phase, execution, outputs } = await runWorkflow("python.failures.recovers");
    expect([phase, outputs]).toEqual(["SUCCEEDED", { o0: 2 }]);
    expect(await attempts(execution, "n0")).toEqual(["FAILED", "FAILED", "SUCCEEDED"]);
  }, 120_000);

  test("a task that always fails: its Python error is told", async () => {
    const { phase, execution } = await runWorkflow("python.failures.always_fails");
    expect(phase).toBe("FAILED");
    expect(errorOf(execution).message).toContain("ZeroDivisionError");
  }, 120_000);

  test("a timeout", async () => {
    const { phase, execution } = await runWorkflow("python.failures.times_out");
    expect(phase).toBe("FAILED");
    expect(errorOf(execution).code).toBe("RetriesExhausted|TimeoutExpired");
    expect(await attempts(execution, "n0")).toEqual(["ABORTED"]);
  }, 120_000);

  test("the failure node runs and the workflow still fails with its own error", async () => {
    const { phase, execution } = await runWorkflow("python.failures.cleans_up");
    expect(phase).toBe("FAILED");
    expect(errorOf(execution).message).toContain("ZeroDivisionError");
    expect(await nodePhases(execution)).toMatchObject({ n1: "FAILED", fn0: "SUCCEEDED" });
  }, 120_000);

  test("fail immediately: what runs beside the failure is aborted", async () => {
    const { phase, execution } = await runWorkflow("python.failures.fails_immediately");
    expect(phase).toBe("FAILED");
    expect(await nodePhases(execution)).toMatchObject({ n0: "FAILED", n1: "ABORTED" });
  }, 120_000);

  test("fail after executable nodes complete: it ends first", async () => {
    const { phase, execution } = await runWorkflow("python.failures.fails_at_the_end");
    expect(phase).toBe("FAILED");
    expect(await nodePhases(execution)).toMatchObject({ n0: "FAILED", n1: "SUCCEEDED" });
  }, 120_000);
});
