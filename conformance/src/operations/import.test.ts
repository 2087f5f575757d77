import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DescMessage, type MessageShape, toJson } from "@bufbuild/protobuf";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { ExecutionSchema, ExecutionState, WorkflowExecutionGetDataResponseSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { LaunchPlanSchema, LaunchPlanState } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { MatchableResource } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import { NodeExecutionGetDataResponseSchema, NodeExecutionSchema } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import { Project_ProjectState } from "@flyte-ts/idl/flyteidl/admin/project_pb";
import { TaskSchema } from "@flyte-ts/idl/flyteidl/admin/task_pb";
import { TaskExecutionGetDataResponseSchema, TaskExecutionSchema } from "@flyte-ts/idl/flyteidl/admin/task_execution_pb";
import { WorkflowSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { NodeExecution_Phase, TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningAdmin, startAdmin } from "../stack/admin-fixture.js";
import { executionRequest, identifier, launchPlanRequest, scope, taskRequest, workflowRequest } from "../api/valid-requests.js";
import { root } from "../repository.js";
import { builtProgram } from "../stack/built-program.js";

const main = builtProgram(join(root, "packages", "cli"));
const folder = mkdtempSync(join(tmpdir(), "flyte-ts-import-"));

let admins: readonly RunningAdmin[] = [];
let from: FlyteClient;
let to: FlyteClient;
beforeAll(async () => {
  admins = await Promise.all([startAdmin(), startAdmin()]);
  [from, to] = admins.map(({ api }) => createFlyteClient({ endpoint: `127.0.0.1:${api}` })) as [FlyteClient, FlyteClient];
  await createSourceData();
});
afterAll(async () => {
  from?.close();
  to?.close();
  for (const admin of admins) await admin.stop();
  rmSync(folder, { recursive: true, force: true });
});

const lp = (name: string, project = scope.project) => identifier(ResourceType.LAUNCH_PLAN, { name, project });
const workflow = (name: string, project = scope.project) => identifier(ResourceType.WORKFLOW, { name, project });

/**
 * Content of an installation, including a workflow with a task of another project and one that runs
 * a launch plan.
 */
async function createSourceData(): Promise<void> {
  const { admin } = from;
  await admin.registerProject({ project: { id: "second", name: "Second", description: "of two", labels: { values: { team: "a" } } } });
  await admin.registerProject({ project: { id: "old", name: "Old" } });
  for (let index = 0; index < 120; index++) await admin.createTask(taskRequest(identifier(ResourceType.TASK, { name: `many${index}` })));
  const described = { shortDescription: "short", longDescription: { content: { case: "value" as const, value: "long" } } };
  const task = taskRequest(identifier(ResourceType.TASK));
  await admin.createTask({ ...task, spec: { ...task.spec, description: described } });
  await admin.createTask(taskRequest(identifier(ResourceType.TASK, { project: "old" })));
  await admin.createWorkflow(workflowRequest(workflow("known"), { n0: [], n1: ["n0"] }));
  for (const name of ["known", "on-schedule", "inactive"]) {
    const request = { ...launchPlanRequest(lp("known")), id: lp(name) };
    const schedule = { ScheduleExpression: { case: "cronSchedule" as const, value: { schedule: "0 3 * * *" } } };
    const spec = { ...request.spec, entityMetadata: name === "on-schedule" ? { schedule } : {}, fixedInputs: undefined };
    const fixed = name === "on-schedule" ? { defaultInputs: { parameters: {} }, fixedInputs: { literals: { a: INTEGER } } } : {};
    await admin.createLaunchPlan({ id: lp(name), spec: { ...spec, ...fixed } });
    if (name !== "inactive") await admin.updateLaunchPlan({ id: lp(name), state: LaunchPlanState.ACTIVE });
  }
  const inputs = [{ var: "a", binding: { value: { case: "promise" as const, value: { nodeId: "", var: "a" } } } }];
  const nodes = [
    {
      id: "task",
      metadata: { name: "task" },
      inputs,
      target: { case: "taskNode" as const, value: { reference: { case: "referenceId" as const, value: identifier(ResourceType.TASK) } } },
    },
    {
      id: "plan",
      metadata: { name: "plan" },
      inputs,
      upstreamNodeIds: ["task"],
      target: { case: "workflowNode" as const, value: { reference: { case: "launchplanRef" as const, value: lp("known") } } },
    },
  ];
  const plain = workflowRequest(workflow("of-others", "second"), {});
  await admin.createWorkflow({ ...plain, spec: { template: { ...plain.spec.template, nodes } } });
  await admin.updateNamedEntity({
    resourceType: ResourceType.WORKFLOW,
    id: { ...scope, name: "known" },
    metadata: { description: "a name" },
  });
  const config = { target: { case: "workflowExecutionConfig" as const, value: { maxParallelism: 7 } } };
  await admin.updateProjectDomainAttributes({ attributes: { ...scope, matchingAttributes: config } });
  await admin.updateProjectAttributes({ attributes: { project: "second", matchingAttributes: config } });
  await admin.updateWorkflowAttributes({ attributes: { ...scope, workflow: "known", matchingAttributes: config } });
  await admin.updateProject({ id: "old", name: "Old", state: Project_ProjectState.ARCHIVED });
}

const executionId = (name: string) => ({ ...scope, name });
const moment = (seconds: number) => ({ seconds: BigInt(1_700_000_000 + seconds), nanos: 5 });
const values = (value: bigint) => ({
  literals: {
    a: {
      value: {
        case: "scalar" as const,
        value: { value: { case: "primitive" as const, value: { value: { case: "integer" as const, value } } } },
      },
    },
  },
});

/** Events of an engine about an execution with one node, two attempts, and a nested node. */
async function publishEvents(name: string, phase: WorkflowExecution_Phase): Promise<void> {
  const { admin } = from;
  await admin.createExecution(executionRequest(name));
  const id = executionId(name);
  const workflowEvent = { executionId: id, producerId: "propeller" };
  await admin.createWorkflowEvent({ event: { ...workflowEvent, phase: WorkflowExecution_Phase.RUNNING, occurredAt: moment(1) } });
  const failed = { case: "error" as const, value: { code: "E", message: "it broke", kind: 1 } };
  const result = phase === WorkflowExecution_Phase.SUCCEEDED ? { case: "outputData" as const, value: values(7n) } : failed;
  for (const [nodeId, parent] of [
    ["n0", ""],
    ["n0-0-inner", "n0"],
  ] as const) {
    const node = {
      id: { executionId: id, nodeId },
      producerId: "propeller",
      specNodeId: nodeId,
      isParent: nodeId === "n0",
      eventVersion: 1,
      inputValue: { case: "inputData" as const, value: values(1n) },
      ...(parent !== "" && { parentNodeMetadata: { nodeId: parent } }),
    };
    await admin.createNodeEvent({ event: { ...node, phase: NodeExecution_Phase.QUEUED, occurredAt: moment(2) } });
    await admin.createNodeEvent({ event: { ...node, phase: NodeExecution_Phase.RUNNING, occurredAt: moment(3) } });
    for (const retryAttempt of [0, 1]) {
      const task = {
        taskId: id0(),
        parentNodeExecutionId: node.id,
        retryAttempt,
        producerId: "propeller",
        taskType: "container",
        eventVersion: 1,
      };
      await admin.createTaskEvent({ event: { ...task, phase: TaskExecution_Phase.RUNNING, occurredAt: moment(4 + retryAttempt) } });
      const ends =
        retryAttempt === 0
          ? { phase: TaskExecution_Phase.FAILED, outputResult: failed }
          : { phase: TaskExecution_Phase.SUCCEEDED, outputResult: { case: "outputData" as const, value: values(7n) } };
      const logs = [{ name: "log", uri: `http://logs/${nodeId}/${retryAttempt}` }];
      const reasons = [{ reason: "because", occurredAt: moment(6) }];
      await admin.createTaskEvent({ event: { ...task, ...ends, occurredAt: moment(6 + retryAttempt), logs, reasons } });
    }
    await admin.createNodeEvent({
      event: {
        ...node,
        phase: NodeExecution_Phase.SUCCEEDED,
        occurredAt: moment(9),
        outputResult: { case: "outputData", value: values(7n) },
        deckUri: "s3://my-s3-bucket/deck.html",
      },
    });
  }
  await admin.createWorkflowEvent({ event: { ...workflowEvent, phase, occurredAt: moment(10), outputResult: result } });
}

const id0 = () => identifier(ResourceType.TASK);

const INTEGER = {
  value: {
    case: "scalar" as const,
    value: { value: { case: "primitive" as const, value: { value: { case: "integer" as const, value: 1n } } } },
  },
};

interface ImportRun {
  readonly status: number | null;
  readonly output: string;
  readonly counts: Readonly<Record<string, { imported: number; existing: number; skipped: number }>>;
  readonly skipped: readonly { kind: string; what: string; why: string }[];
}

/** Runs the command; `breakOff` kills it when its output matches. */
function run(flags: readonly string[] = [], breakOff?: RegExp): Promise<ImportRun> {
  const [source, target] = admins.map(({ api }) => `127.0.0.1:${api}`);
  const report = join(folder, "report.json");
  const child = spawn(process.execPath, [main, "import", "--from", source ?? "", "--to", target ?? "", "--report", report, ...flags]);
  let out = "";
  const keep = (chunk: Buffer) => {
    out += chunk.toString();
    if (breakOff?.test(out) === true) child.kill("SIGKILL");
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (status) => {
      const output =
        status === 0 ? (JSON.parse(readFileSync(report, "utf8")) as Pick<ImportRun, "counts" | "skipped">) : { counts: {}, skipped: [] };
      done({ status, output: out, ...output });
    });
  });
}

test("an interrupted and repeated import is complete and lists what it skipped", async () => {
  expect((await run([], /entities of second/)).status).toBe(null);
  const { status, counts, skipped, output: out } = await run();
  expect(status, out).toBe(0);
  expect(counts.project).toEqual({ imported: 0, there: 3, skipped: 0 });
  const whole = (kind: string) => (counts[kind]?.imported ?? 0) + (counts[kind]?.existing ?? 0);
  expect([whole("task"), whole("workflow"), whole("launch plan"), whole("attributes")]).toEqual([122, 2, 3, 3]);
  expect(skipped).toEqual([
    { kind: "activation", what: "flytesnacks/development/on-schedule/v1", why: expect.stringContaining("--activate all") as string },
  ]);
  expect(out).toMatch(/task +\d+ +\d+ +0/);
}, 120_000);

test("imported entities equal their originals", async () => {
  const both = async <T>(call: (client: FlyteClient) => Promise<T>) => [await call(from), await call(to)] as const;
  const bare = ({ closure, ...rest }: { closure?: object } & object) => ({
    ...rest,
    closure: { ...closure, createdAt: "", updatedAt: "", state: "" },
  });
  for (const what of [identifier(ResourceType.TASK), identifier(ResourceType.TASK, { name: "many77" })]) {
    const [source, target] = await both(async ({ admin }) => bare(toJson(TaskSchema, await admin.getTask({ id: what })) as object));
    expect(target).toEqual(source);
  }
  for (const what of [workflow("known"), workflow("of-others", "second")]) {
    const [source, target] = await both(async ({ admin }) => bare(toJson(WorkflowSchema, await admin.getWorkflow({ id: what })) as object));
    expect(target).toEqual(source);
  }
  for (const name of ["known", "on-schedule", "inactive"]) {
    const [source, target] = await both(async ({ admin }) =>
      bare(toJson(LaunchPlanSchema, await admin.getLaunchPlan({ id: lp(name) })) as object),
    );
    expect(target).toEqual(source);
  }
  const named = await to.admin.getNamedEntity({ resourceType: ResourceType.WORKFLOW, id: { ...scope, name: "known" } });
  expect(named.metadata?.description).toBe("a name");
  expect((await to.admin.getDescriptionEntity({ id: identifier(ResourceType.TASK) })).shortDescription).toBe("short");
  // The workflow with the same name as the task had no description in the source.
  expect((await to.admin.getWorkflow({ id: workflow("known") })).shortDescription).toBe("");
  const { projects } = await to.admin.listProjects({ filters: "value_in(state,0;1)", sortBy: { key: "identifier", direction: 1 } });
  expect(projects.map((project) => [project.id, project.description, project.labels?.values ?? {}, project.state])).toEqual([
    ["flytesnacks", expect.anything(), {}, 0],
    ["old", "", {}, 1],
    ["second", "of two", { team: "a" }, 0],
  ]);
  const request = { ...scope, workflow: "known", resourceType: MatchableResource.WORKFLOW_EXECUTION_CONFIG };
  expect((await to.admin.getWorkflowAttributes(request)).attributes?.matchingAttributes?.target.value).toMatchObject({ maxParallelism: 7 });
});

test("imported entities keep their state, and schedules stay inactive until they are requested", async () => {
  const active = async () =>
    (await to.admin.listActiveLaunchPlans({ ...scope, limit: 10 })).launchPlans.map((each) => each.id?.name ?? "").sort();
  expect(await active()).toEqual(["known"]);
  expect((await run(["--activate", "all"])).skipped).toEqual([]);
  expect(await active()).toEqual(["known", "on-schedule"]);
});

/**
 * Removes from a response what an import does not keep: creation times of rows, and the location of
 * values that admin received inline.
 */
function comparableParts<Schema extends DescMessage>(schema: Schema, message: MessageShape<Schema>): unknown {
  const json = JSON.stringify(toJson(schema, message), (key, value: unknown) =>
    /^(inputs|outputs|computedInputs|systemMetadata|occurredAt)$/.test(key) ? undefined : value,
  );
  return JSON.parse(json);
}

async function historyOf({ admin }: FlyteClient, name: string, parents: readonly string[] = ["", "n0"]): Promise<unknown[]> {
  const id = executionId(name);
  const seen: unknown[] = [
    comparableParts(ExecutionSchema, await admin.getExecution({ id })),
    comparableParts(WorkflowExecutionGetDataResponseSchema, await admin.getExecutionData({ id })),
  ];
  for (const uniqueParentId of parents) {
    const { nodeExecutions } = await admin.listNodeExecutions({ workflowExecutionId: id, limit: 10, uniqueParentId });
    for (const node of nodeExecutions) {
      seen.push(
        comparableParts(NodeExecutionSchema, node),
        comparableParts(NodeExecutionGetDataResponseSchema, await admin.getNodeExecutionData({ id: node.id! })),
      );
      const { taskExecutions } = await admin.listTaskExecutions({ nodeExecutionId: node.id!, limit: 10 });
      for (const task of taskExecutions)
        seen.push(
          comparableParts(TaskExecutionSchema, task),
          comparableParts(TaskExecutionGetDataResponseSchema, await admin.getTaskExecutionData({ id: task.id! })),
        );
    }
  }
  return seen;
}

test("ended executions are imported on request, once, and start nothing", async () => {
  await publishEvents("good", WorkflowExecution_Phase.SUCCEEDED);
  await publishEvents("bad", WorkflowExecution_Phase.FAILED);
  await from.admin.updateExecution({ id: executionId("bad"), state: ExecutionState.EXECUTION_ARCHIVED });
  await from.admin.createExecution(executionRequest("aborted"));
  await from.admin.terminateExecution({ id: executionId("aborted"), cause: "enough" });
  await from.admin.createWorkflowEvent({
    event: { executionId: executionId("aborted"), phase: WorkflowExecution_Phase.ABORTED, occurredAt: moment(3), producerId: "propeller" },
  });
  await from.admin.createExecution(executionRequest("open"));
  const { counts, skipped, output: out } = await run(["--executions"]);
  expect(counts.execution, out).toEqual({ imported: 3, there: 0, skipped: 1 });
  expect(skipped.filter(({ kind }) => kind === "execution")).toEqual([
    { kind: "execution", what: "flytesnacks/development/open", why: "it has not ended: it continues on the source" },
  ]);
  for (const name of ["good", "bad"]) expect(await historyOf(to, name), name).toEqual(await historyOf(from, name));
  expect(await historyOf(to, "aborted", [""])).toEqual(await historyOf(from, "aborted", [""]));
  expect((await historyOf(to, "good")).length).toBe(2 + 2 * (2 + 2 * 2));
  expect((await run(["--executions"])).counts.execution).toEqual({ imported: 0, there: 3, skipped: 1 });
  // The execution behaves like one that ran here: clients can list and relaunch it.
  const { executions } = await to.admin.listExecutions({ id: scope, limit: 10, filters: "eq(phase,SUCCEEDED)" });
  expect(executions.map((each) => each.id?.name)).toEqual(["good"]);
  expect((await to.admin.relaunchExecution({ id: executionId("good"), name: "again" })).id?.name).toBe("again");
}, 120_000);

test("an import can be limited to a project, and a missing one is reported", async () => {
  const { counts, skipped } = await run(["--projects", "second,nosuch", "--domains", "development"]);
  expect([counts.project, counts.workflow, counts.task]).toEqual([
    { imported: 0, there: 1, skipped: 1 },
    { imported: 0, there: 1, skipped: 0 },
    undefined,
  ]);
  expect(skipped).toEqual([{ kind: "project", what: "nosuch", why: "the source has no project of this name" }]);
  const wrong = await run(["--form", "x"]);
  expect([wrong.status, wrong.output]).toEqual([1, expect.stringContaining("did you mean from?")]);
});
