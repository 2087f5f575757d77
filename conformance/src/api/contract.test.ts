import { create } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { codeName, createFlyteClient, type FlyteClient, RpcError } from "@flyte-ts/client";
import { ArtifactType } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import { ExecutionState } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { LaunchPlanState } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { MatchableResource } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import { Project_ProjectState } from "@flyte-ts/idl/flyteidl/admin/project_pb";
import { FixedRateUnit } from "@flyte-ts/idl/flyteidl/admin/schedule_pb";
import { NodeExecution_Phase as Node, WorkflowExecution_Phase as Workflow } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { IdentifierSchema, NodeExecutionIdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { Resources_ResourceName as Name } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningAdmin, startAdmin } from "../stack/admin-fixture.js";
import {
  executionRequest,
  validInputs,
  identifier,
  integerLiteral,
  launchPlanRequest,
  scope,
  taskRequest,
  textOf,
  workflowRequest,
} from "./valid-requests.js";

// Checks rule by rule which requests Flyte 1.16 refuses and accepts, on PostgreSQL: lists, names,
// definitions, executions, data. OK means accepted.
let admin: RunningAdmin;
let client: FlyteClient;
let count = 0;
const fresh = () => `n${++count}`;

beforeAll(async () => {
  admin = await startAdmin();
  client = createFlyteClient({ endpoint: `127.0.0.1:${admin.api}` });
  await client.admin.createTask(taskRequest(identifier(ResourceType.TASK)));
  await client.admin.createWorkflow(workflowRequest(identifier(ResourceType.WORKFLOW), { n0: [] }));
  await client.admin.createWorkflow(datedWorkflow());
  await client.admin.createLaunchPlan(launchPlanRequest(identifier(ResourceType.LAUNCH_PLAN)));
  await client.admin.createExecution(executionRequest("known"));
  await client.admin.createExecution(executionRequest("ended"));
  const occurredAt = timestampFromDate(new Date());
  for (const phase of [Workflow.RUNNING, Workflow.FAILED]) {
    const outputResult = { case: "error" as const, value: { code: "C", message: "m".repeat(500) } };
    const failed = phase === Workflow.FAILED ? { outputResult } : {};
    await client.admin.createWorkflowEvent({ event: { executionId: { ...scope, name: "ended" }, occurredAt, phase, ...failed } });
  }
  await client.admin.createNodeEvent({ event: { id: node("known"), occurredAt, phase: Node.RUNNING } });
  await client.admin.registerProject({ project: { id: "put-away", name: "x" } });
  await client.admin.updateProject({ id: "put-away", name: "x", state: Project_ProjectState.ARCHIVED });
});
afterAll(async () => {
  client.close();
  await admin.stop();
});

const node = (name: string) => ({ executionId: { ...scope, name }, nodeId: "n0" });

/** Returns OK, or the code and the message. */
async function outcomeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "OK";
  } catch (error) {
    if (error instanceof RpcError) return `${codeName(error.code)}: ${error.message}`;
    throw error;
  }
}

/** Columns: a description of the request, the expected outcome, and the call. */
type Row = readonly [string, RegExp, () => Promise<unknown>];
const IA = (text = "") => new RegExp(`^INVALID_ARGUMENT: .*${text}`, "s");
const NF = /^NOT_FOUND/;
const OK = /^OK$/;

const rules = (rows: readonly Row[]) =>
  test.each(rows)("%s: %s", async (_, wanted, call) => {
    expect(await outcomeOf(call())).toMatch(wanted);
  });

describe("lists", () => {
  const at = scope;
  const taskExecutionId = { taskId: identifier(ResourceType.TASK), nodeExecutionId: node("known"), retryAttempt: 0 };
  /** All lists, with the tables that their filters may join. */
  const LISTS: readonly [string, (page: { limit: number; token?: string; filters?: string }) => Promise<{ token: string }>][] = [
    ["tasks", (page) => client.admin.listTasks({ id: at, ...page })],
    ["workflows", (page) => client.admin.listWorkflows({ id: at, ...page })],
    ["launch plans", (page) => client.admin.listLaunchPlans({ id: at, ...page })],
    ["executions", (page) => client.admin.listExecutions({ id: at, ...page })],
    ["node executions", (page) => client.admin.listNodeExecutions({ workflowExecutionId: { ...at, name: "known" }, ...page })],
    ["task executions", (page) => client.admin.listTaskExecutions({ nodeExecutionId: node("known"), ...page })],
    ["named entities", (page) => client.admin.listNamedEntities({ resourceType: ResourceType.TASK, ...at, ...page })],
    ["task ids", (page) => client.admin.listTaskIds({ ...at, ...page })],
    ["workflow ids", (page) => client.admin.listWorkflowIds({ ...at, ...page })],
    ["launch plan ids", (page) => client.admin.listLaunchPlanIds({ ...at, ...page })],
    ["active launch plans", (page) => client.admin.listActiveLaunchPlans({ ...at, ...page })],
    [
      "descriptions",
      (page) => client.admin.listDescriptionEntities({ resourceType: ResourceType.TASK, id: { ...at, name: "known" }, ...page }),
    ],
    ["signals", (page) => client.signals.listSignals({ workflowExecutionId: { ...at, name: "known" }, ...page })],
  ];
  describe.each(LISTS)("%s", (_, list) => {
    rules([
      ["a limit of 0", IA("limit"), () => list({ limit: 0 })],
      ["a limit of 10,000, as the console asks", OK, () => list({ limit: 10_000 })],
      ["a token that is not a number", IA("token"), () => list({ limit: 1, token: "abc" })],
      ["a negative token", IA("token"), () => list({ limit: 1, token: "-1" })],
      ["a token beyond the end", OK, () => list({ limit: 1, token: "1000000" })],
    ]);
  });
  rules([
    ["projects without limit", OK, () => client.admin.listProjects({ limit: 0 })],
    [
      "child nodes of an unknown node",
      NF,
      () => client.admin.listNodeExecutions({ workflowExecutionId: { ...at, name: "known" }, limit: 1, uniqueParentId: "nosuch" }),
    ],
    ["nodes of an unknown attempt", NF, () => client.admin.listNodeExecutionsForTask({ taskExecutionId, limit: 1 })],
    ["of an unknown project", OK, () => client.admin.listTasks({ id: { project: "nosuch", domain: "nosuch" }, limit: 1 })],
    ["a value of another type", IA("state"), () => client.admin.listLaunchPlans({ id: at, limit: 1, filters: "eq(state,ACTIVE)" })],
    ["several values for one", IA(), () => client.admin.listTasks({ id: at, limit: 1, filters: "eq(name,a;b)" })],
    [
      "a sort key of another table",
      IA("sort"),
      () => client.admin.listExecutions({ id: at, limit: 1, sortBy: { key: "workflow.name", direction: 0 } }),
    ],
  ]);

  const PREFIXES = [
    "task",
    "workflow",
    "launch_plan",
    "execution",
    "node_execution",
    "task_execution",
    "named_entity_metadata",
    "project",
    "signal",
  ];
  const JOINS: Readonly<Record<string, readonly string[]>> = {
    tasks: ["task"],
    workflows: ["workflow"],
    "launch plans": ["launch_plan", "workflow"],
    executions: ["execution", "launch_plan", "workflow", "task"],
    "node executions": ["node_execution", "execution"],
    "task executions": ["task_execution", "task", "execution", "node_execution"],
    "named entities": ["named_entity_metadata"],
  };
  test.each(Object.entries(JOINS))(
    "%s can be filtered by fields of their related entities and by no other entity's",
    async (name, allowed) => {
      const list = LISTS.find(([each]) => each === name)?.[1];
      const answers = await Promise.all(
        PREFIXES.map(async (prefix) => [
          prefix,
          (await outcomeOf(list?.({ limit: 1, filters: `gt(${prefix}.id,0)` }) ?? Promise.reject())).slice(0, 16),
        ]),
      );
      expect(answers).toEqual(PREFIXES.map((prefix) => [prefix, allowed.includes(prefix) ? "OK" : "INVALID_ARGUMENT"]));
    },
  );

  test("a full page has the token of the next page, and the last page has none", async () => {
    for (const name of ["pa", "pb", "pc"]) await client.admin.createTask(taskRequest(identifier(ResourceType.TASK, { name })));
    const page = (limit: number, token = "") => client.admin.listTaskIds({ ...at, limit, token, sortBy: { key: "name", direction: 1 } });
    expect((await page(2)).token).toBe("2");
    expect((await page(2, "2")).token).toBe("4");
    expect((await page(100)).token).toBe("");
  });

  test("a list contains executions without inputs and with at most 100 bytes of the error, and archived ones only on request", async () => {
    const list = async (filters = "") => (await client.admin.listExecutions({ id: at, limit: 100, filters })).executions;
    const ended = (await list("eq(execution_name,ended)"))[0];
    expect(ended?.closure?.outputResult).toMatchObject({ case: "error", value: { message: "m".repeat(100) } });
    const whole = await client.admin.getExecution({ id: { ...at, name: "ended" } });
    expect(whole.closure?.outputResult).toMatchObject({ value: { message: "m".repeat(500) } });
    await client.admin.updateExecution({ id: { ...at, name: "ended" }, state: ExecutionState.EXECUTION_ARCHIVED });
    const names = async (filters?: string) => (await list(filters)).map((each) => each.id?.name);
    expect([await names(), await names("eq(state,1)")]).toEqual([expect.not.arrayContaining(["ended"]), ["ended"]]);
    await client.admin.updateExecution({ id: { ...at, name: "ended" }, state: ExecutionState.EXECUTION_ACTIVE });
  });
});

describe("names", () => {
  const project = (changes: object) => client.admin.registerProject({ project: { id: fresh(), name: "x", ...changes } });
  const labels = (entries: number, value = "v") => ({
    labels: { values: Object.fromEntries(Array.from({ length: entries }, (_, i) => [`l${i}`, value])) },
  });
  const creating: readonly [string, ResourceType, (of: ReturnType<typeof identifier>) => Promise<unknown>][] = [
    ["task", ResourceType.TASK, (of) => client.admin.createTask(taskRequest(of))],
    ["workflow", ResourceType.WORKFLOW, (of) => client.admin.createWorkflow(workflowRequest(of, { n0: [] }))],
    [
      "launch plan",
      ResourceType.LAUNCH_PLAN,
      (of) => client.admin.createLaunchPlan({ ...launchPlanRequest(identifier(ResourceType.LAUNCH_PLAN)), id: of }),
    ],
  ];
  describe.each(creating)("a %s", (_, type, make) => {
    const changed = (changes: object) => make(create(IdentifierSchema, { ...identifier(type, { name: fresh() }), ...changes }));
    rules([
      [
        "of another resource type",
        IA("(?:resource|identifier)"),
        () => changed({ resourceType: type === ResourceType.TASK ? ResourceType.WORKFLOW : ResourceType.TASK }),
      ],
      ["without project", IA("project"), () => changed({ project: "" })],
      ["without domain", IA("domain"), () => changed({ domain: "" })],
      ["without name", IA("name"), () => changed({ name: "" })],
      ["without version", IA("version"), () => changed({ version: "" })],
      ["of an unknown project", IA("nosuch"), () => changed({ project: "nosuch" })],
      ["of an unknown domain", IA("nosuch"), () => changed({ domain: "nosuch" })],
      ["of an archived project", IA("put-away"), () => changed({ project: "put-away" })],
      ["with spaces and letters of any script in its name", OK, () => changed({ name: `é ${fresh()}` })],
    ]);
  });
  const execution = (name: string) => client.admin.createExecution(executionRequest(name));
  rules([
    ["a project in capital letters", IA("id|project"), () => project({ id: "Nope" })],
    ["a project without id", IA("id|project"), () => project({ id: "" })],
    ["a project's name of 64 characters", OK, () => project({ name: "x".repeat(64) })],
    ["a project's name of 65 characters", IA("name"), () => project({ name: "x".repeat(65) })],
    ["a project's description of 300", OK, () => project({ description: "x".repeat(300) })],
    ["a project's description of 301", IA("description"), () => project({ description: "x".repeat(301) })],
    ["a project's 16 labels", OK, () => project(labels(16))],
    ["a project's 17 labels", IA("label"), () => project(labels(17))],
    ["a project's label that is invalid in Kubernetes", IA("label"), () => project(labels(1, "a b"))],
    ["a project with domains of its own", IA("domain"), () => project({ domains: [{ id: "development", name: "x" }] })],
    ["an existing project", /^ALREADY_EXISTS/, () => project({ id: scope.project })],
    ["a read of an unknown project", NF, () => client.admin.getProject({ id: "nosuch" })],
    ["an execution's name of 63 characters", OK, () => execution("e".repeat(63))],
    ["an execution's name of 64 characters", IA("name"), () => execution("e".repeat(64))],
    ["an execution's name that begins with a digit", IA("name"), () => execution("1e")],
    ["an execution's name with an underscore", IA("name"), () => execution("a_b")],
    [
      "an upload for an archived project",
      OK,
      () => client.dataProxy.createUploadLocation({ project: "put-away", domain: "development", contentMd5: new Uint8Array(16) }),
    ],
    ["a read of a workflow as a launch plan", IA(), () => client.admin.getWorkflow({ id: identifier(ResourceType.LAUNCH_PLAN) })],
    ["a read of a workflow without a resource type", OK, () => client.admin.getWorkflow({ id: identifier(ResourceType.UNSPECIFIED) })],
    ["a read of a task with any resource type", OK, () => client.admin.getTask({ id: identifier(ResourceType.LAUNCH_PLAN) })],
  ]);
  test("an execution without a name gets one of 20 characters", async () => {
    expect((await client.admin.createExecution(executionRequest(""))).id?.name).toMatch(/^a[bcdfghjklmnpqrstvwxz2456789]{19}$/);
  });
});

describe("tasks", () => {
  const task = (change: object) => {
    const { id: of, spec } = taskRequest(identifier(ResourceType.TASK, { name: fresh() }));
    return client.admin.createTask({ id: of, spec: { template: { ...spec.template, ...change } } });
  };
  const container = (resources: object) => task({ target: { case: "container", value: { image: "i", command: ["x"], resources } } });
  const cpu = (value: string) => ({ name: Name.CPU, value });
  const gpu = (value: string) => ({ name: Name.GPU, value });
  rules([
    ["without type", IA("type"), () => task({ type: "" })],
    ["without metadata", IA("metadata"), () => task({ metadata: undefined })],
    ["without interface", IA("interface"), () => task({ interface: undefined })],
    ["a runtime without version", IA("version"), () => task({ metadata: { runtime: { type: 1 } } })],
    ["a container without image", IA("image"), () => task({ target: { case: "container", value: { command: ["x"] } } })],
    ["a pod without spec", IA("pod"), () => task({ target: { case: "k8sPod", value: {} } })],
    ["a task without a target", OK, () => task({ target: { case: undefined } })],
    ["one resource twice", IA(), () => container({ requests: [cpu("1"), cpu("1")] })],
    ["an invalid quantity", IA(), () => container({ requests: [cpu("plenty")] })],
    ["a fraction of a GPU", IA("gpu"), () => container({ requests: [gpu("0.5")], limits: [gpu("0.5")] })],
    ["a GPU limit above the request", IA("xtended resource"), () => container({ requests: [gpu("1")], limits: [gpu("2")] })],
    ["a request above its limit", IA(), () => container({ requests: [cpu("2")], limits: [cpu("1")] })],
    ["a request above the platform's limit", IA(), () => container({ requests: [cpu("100")] })],
    ["a limit alone above the platform's", OK, () => container({ limits: [cpu("100")] })],
    ["a read of an unknown task", NF, () => client.admin.getTask({ id: identifier(ResourceType.TASK, { name: "nosuch" }) })],
  ]);
});

const DATED = "dated";
/** A workflow with the inputs `at` (date) and `x` (integer). */
function datedWorkflow() {
  const type = (simple: SimpleType) => ({ type: { type: { case: "simple" as const, value: simple } } });
  const request = workflowRequest(identifier(ResourceType.WORKFLOW, { name: DATED }), {});
  const inputs = { variables: { at: type(SimpleType.DATETIME), x: type(SimpleType.INTEGER) } };
  const taskNode = { reference: { case: "referenceId" as const, value: identifier(ResourceType.TASK) } };
  const nodes = [
    {
      id: "n0",
      metadata: {},
      inputs: [{ var: "a", binding: { value: { case: "promise" as const, value: { nodeId: "", var: "x" } } } }],
      target: { case: "taskNode" as const, value: taskNode },
    },
  ];
  return { ...request, spec: { template: { ...request.spec.template, interface: { inputs, outputs: {} }, nodes } } };
}

describe("launch plans", () => {
  const plan = (spec: object, workflow = DATED) => {
    const workflowId = identifier(ResourceType.WORKFLOW, { name: workflow });
    return client.admin.createLaunchPlan({
      id: identifier(ResourceType.LAUNCH_PLAN, { name: fresh() }),
      spec: { workflowId, entityMetadata: {}, ...spec },
    });
  };
  const scheduled = (schedule: object, spec: object = { fixedInputs: { literals: { x: integerLiteral(1n) } } }) =>
    plan({ ...spec, entityMetadata: { schedule: { kickoffTimeInputArg: "at", ...schedule } } });
  const cron = (expression: string, more: object = {}) => ({
    ScheduleExpression: { case: "cronSchedule", value: { schedule: expression } },
    ...more,
  });
  const rate = (unit: FixedRateUnit) => ({ ScheduleExpression: { case: "rate", value: { value: 1, unit } } });
  const parameter = (literal: object) => ({
    defaultInputs: {
      parameters: {
        x: { var: { type: { type: { case: "simple", value: SimpleType.INTEGER } } }, behavior: { case: "default", value: literal } },
      },
    },
  });
  const notify = (phases: readonly Workflow[], emails: readonly string[]) =>
    plan({ entityMetadata: { notifications: [{ phases, type: { case: "email", value: { recipientsEmail: emails } } }] } });
  rules([
    ["of an unknown workflow", NF, () => plan({}, "nosuch")],
    ["a fixed input that the workflow does not declare", IA("zz"), () => plan({ fixedInputs: { literals: { zz: integerLiteral(1n) } } })],
    ["a fixed input of another type", IA("x"), () => plan({ fixedInputs: { literals: { x: textOf("1") } } })],
    ["a default of another type", IA("x"), () => plan(parameter(textOf("1")))],
    ["a schedule with all inputs", OK, () => scheduled(cron("0 4 * * *"))],
    ["a schedule that lacks an input", IA("x"), () => scheduled(cron("0 4 * * *"), {})],
    [
      "a kickoff time input that the workflow does not declare",
      IA(),
      () => scheduled(cron("0 4 * * *", { kickoffTimeInputArg: "nosuch" })),
    ],
    ["a kickoff time input of another type", IA(), () => scheduled(cron("0 4 * * *", { kickoffTimeInputArg: "x" }), {})],
    ["a cron expression of six fields", IA("cron|schedule|expression"), () => scheduled(cron("0 0 4 * * *"))],
    ["an invalid cron expression", IA(), () => scheduled(cron("hourly"))],
    ["@hourly", OK, () => scheduled(cron("@hourly"))],
    ["a time zone", OK, () => scheduled(cron("CRON_TZ=Europe/Berlin 0 4 * * *"))],
    ["every hour", OK, () => scheduled(rate(FixedRateUnit.HOUR))],
    ["a notification without recipients", IA("recipient"), () => notify([Workflow.SUCCEEDED], [])],
    ["a notification for RUNNING", IA("phase"), () => notify([Workflow.RUNNING], ["a@b.test"])],
    ["a notification for a terminal phase", OK, () => notify([Workflow.SUCCEEDED, Workflow.TIMED_OUT], ["a@b.test"])],
    [
      "the activation of an unknown version",
      NF,
      () => client.admin.updateLaunchPlan({ id: identifier(ResourceType.LAUNCH_PLAN, { name: "nosuch" }), state: LaunchPlanState.ACTIVE }),
    ],
    [
      "an unknown state",
      IA("state"),
      () => client.admin.updateLaunchPlan({ id: identifier(ResourceType.LAUNCH_PLAN), state: 7 as LaunchPlanState }),
    ],
    ["a read of the active version without one", NF, () => client.admin.getActiveLaunchPlan({ id: { ...scope, name: "known" } })],
  ]);
});

describe("executions", () => {
  const launch = (of: ReturnType<typeof identifier>, changes: object = {}) =>
    client.admin.createExecution(executionRequest(fresh(), { spec: { launchPlan: of, metadata: {}, ...changes } }));
  const about = (name: string) => ({ id: { ...scope, name } });
  rules([
    ["of a workflow", IA("resource|launch"), () => launch(identifier(ResourceType.WORKFLOW))],
    ["of a task", OK, () => launch(identifier(ResourceType.TASK))],
    ["of an unknown task", NF, () => launch(identifier(ResourceType.TASK, { name: "nosuch" }))],
    ["without spec", IA("spec|launch"), () => client.admin.createExecution({ ...scope, name: fresh() })],
    ["one tag twice", /^ALREADY_EXISTS/, () => launch(identifier(ResourceType.LAUNCH_PLAN), { tags: ["a", "a"] })],
    ["a relaunch of an unknown execution", NF, () => client.admin.relaunchExecution(about("nosuch"))],
    ["a recovery of an unknown execution", NF, () => client.admin.recoverExecution(about("nosuch"))],
    ["a termination of an unknown execution", NF, () => client.admin.terminateExecution(about("nosuch"))],
    ["a termination of an ended execution", /^FAILED_PRECONDITION/, () => client.admin.terminateExecution(about("ended"))],
    [
      "the archiving of an unknown execution",
      NF,
      () => client.admin.updateExecution({ ...about("nosuch"), state: ExecutionState.EXECUTION_ARCHIVED }),
    ],
    ["data of an unknown execution", NF, () => client.admin.getExecutionData(about("nosuch"))],
    ["metrics of an unknown execution", NF, () => client.admin.getExecutionMetrics({ ...about("nosuch"), depth: 1 })],
    [
      "inputs in the spec, as older clients send them",
      OK,
      () =>
        client.admin.createExecution({
          ...scope,
          name: fresh(),
          spec: { launchPlan: identifier(ResourceType.LAUNCH_PLAN), metadata: {}, inputs: validInputs },
        }),
    ],
  ]);

  test("a request may override a default input but not a fixed one", async () => {
    const name = fresh();
    const workflowId = identifier(ResourceType.WORKFLOW);
    const launchPlan = identifier(ResourceType.LAUNCH_PLAN, { name });
    await client.admin.createLaunchPlan({ id: launchPlan, spec: { workflowId, entityMetadata: {}, fixedInputs: validInputs } });
    expect(await outcomeOf(launch(launchPlan))).toMatch(IA("a"));
    expect(
      await outcomeOf(client.admin.createExecution(executionRequest(fresh(), { spec: { launchPlan, metadata: {} }, inputs: {} }))),
    ).toBe("OK");
  });

  test("invalid attributes are refused; missing ones are not found and can be deleted", async () => {
    const { project, domain } = scope;
    const qos = { target: { case: "qualityOfService" as const, value: {} } };
    expect(
      await outcomeOf(client.admin.updateProjectDomainAttributes({ attributes: { project, domain, matchingAttributes: qos } })),
    ).toMatch(IA());
    const resourceType = MatchableResource.EXECUTION_CLUSTER_LABEL;
    expect(await outcomeOf(client.admin.getProjectDomainAttributes({ project, domain, resourceType }))).toMatch(NF);
    expect(await outcomeOf(client.admin.deleteProjectDomainAttributes({ project, domain, resourceType }))).toBe("OK");
    expect(await outcomeOf(client.admin.getProjectAttributes({ project, resourceType: MatchableResource.WORKFLOW_EXECUTION_CONFIG }))).toBe(
      "OK",
    );
    expect(await outcomeOf(client.admin.listMatchableAttributes({ resourceType: 99 as MatchableResource }))).toMatch(IA("resource_type"));
    expect(
      await outcomeOf(client.admin.updateProjectDomainAttributes({ attributes: { project: "nosuch", domain, matchingAttributes: qos } })),
    ).toMatch(IA());
  });

  test("a request for another pool than the configured one is refused", async () => {
    const matchingAttributes = { target: { case: "clusterAssignment" as const, value: { clusterPoolName: "small" } } };
    await client.admin.updateProjectDomainAttributes({ attributes: { ...scope, matchingAttributes } });
    expect(await outcomeOf(launch(identifier(ResourceType.LAUNCH_PLAN), { clusterAssignment: { clusterPoolName: "large" } }))).toMatch(
      IA("pool"),
    );
    expect(await outcomeOf(launch(identifier(ResourceType.LAUNCH_PLAN), { clusterAssignment: { clusterPoolName: "small" } }))).toBe("OK");
    await client.admin.deleteProjectDomainAttributes({ ...scope, resourceType: MatchableResource.CLUSTER_ASSIGNMENT });
  });
});

describe("data and signals", () => {
  const md5 = new Uint8Array(16);
  const upload = (changes: object) => client.dataProxy.createUploadLocation({ ...scope, ...changes });
  const link = (artifactType: ArtifactType, of: ReturnType<typeof node>) =>
    client.dataProxy.createDownloadLink({
      artifactType,
      source: { case: "nodeExecutionId", value: create(NodeExecutionIdentifierSchema, of) },
    });
  const data = (flyteUrl: string) => client.dataProxy.getData({ flyteUrl });
  const boolean = { type: { case: "simple" as const, value: SimpleType.BOOLEAN } };
  const signal = (name: string) => ({ signalId: name, executionId: { ...scope, name: "known" } });
  rules([
    ["an upload without a hash or a folder name", IA("content_md5|filename_root"), () => upload({ filename: "f" })],
    ["an upload by its content", OK, () => upload({ contentMd5: md5 })],
    ["an upload below a root", OK, () => upload({ filenameRoot: "r", filename: "f" })],
    ["an upload without project", IA("project"), () => upload({ project: "", contentMd5: md5 })],
    ["an upload without domain", IA("domain"), () => upload({ domain: "", contentMd5: md5 })],
    ["a signed URL with a lifetime of an hour", OK, () => upload({ contentMd5: md5, expiresIn: durationFromMs(3_600_000) })],
    ["a signed URL with a longer lifetime", IA("expires_in"), () => upload({ contentMd5: md5, expiresIn: durationFromMs(3_601_000) })],
    ["a file above its folder", IA(), () => upload({ filenameRoot: "r", filename: "../../f" })],
    ["a link to nothing", IA("artifact"), () => link(ArtifactType.UNDEFINED, node("known"))],
    ["a missing deck", NF, () => link(ArtifactType.DECK, node("known"))],
    ["an invalid flyte:// URL", IA(), () => data("http://x")],
    ["a flyte:// URL of an unknown execution", NF, () => data(`flyte://v1/${scope.project}/${scope.domain}/nosuch/n0/i`)],
    ["the value of an unknown signal", IA(), () => client.signals.setSignal({ id: signal("nosuch"), value: integerLiteral(1n) })],
    [
      "a signal of another type",
      IA(),
      async () => {
        await client.signals.getOrCreateSignal({ id: signal("go"), type: boolean });
        return client.signals.setSignal({ id: signal("go"), value: integerLiteral(1n) });
      },
    ],
  ]);

  test("an existing object can be uploaded again only with the same content", async () => {
    const place = { filenameRoot: "taken", filename: "f" };
    const { signedUrl } = await upload(place);
    expect((await fetch(signedUrl, { method: "PUT", body: "content" })).status).toBe(200);
    expect(await outcomeOf(upload(place))).toMatch(/^ALREADY_EXISTS/);
    expect(await outcomeOf(upload({ ...place, contentMd5: md5 }))).toMatch(/^ALREADY_EXISTS/);
    const same = Buffer.from("9a0364b9e99bb480dd25e1f0284c8555", "hex");
    expect(await outcomeOf(upload({ ...place, contentMd5: same }))).toBe("OK");
  });
});

describe("events", () => {
  const occurredAt = timestampFromDate(new Date());
  const workflow = (name: string, phase: Workflow, more: object = {}) =>
    client.admin.createWorkflowEvent({ event: { executionId: { ...scope, name }, occurredAt, phase, ...more } });
  const running = async (...phases: readonly Workflow[]) => {
    const name = fresh();
    await client.admin.createExecution(executionRequest(name));
    for (const phase of phases) await workflow(name, phase);
    return name;
  };
  const FP = /^FAILED_PRECONDITION/;
  const AE = /^ALREADY_EXISTS/;
  rules([
    ["of an unknown execution", NF, () => workflow("nosuch", Workflow.RUNNING)],
    ["the same phase again", AE, async () => workflow(await running(Workflow.RUNNING), Workflow.RUNNING)],
    ["queued again", OK, async () => workflow(await running(Workflow.QUEUED), Workflow.QUEUED)],
    ["QUEUED after RUNNING", FP, async () => workflow(await running(Workflow.RUNNING), Workflow.QUEUED)],
    ["RUNNING after SUCCEEDING", OK, async () => workflow(await running(Workflow.RUNNING, Workflow.SUCCEEDING), Workflow.RUNNING)],
    ["RUNNING after a terminal phase", FP, () => workflow("ended", Workflow.RUNNING)],
    ["another end", FP, () => workflow("ended", Workflow.SUCCEEDED)],
    [
      "from a cluster that does not run the execution",
      FP,
      async () => workflow(await running(), Workflow.RUNNING, { producerId: "elsewhere" }),
    ],
    ["without a time", IA("occurred_at"), async () => workflow(await running(), Workflow.RUNNING, { occurredAt: undefined })],
    [
      "of a task whose node is unknown",
      NF,
      () =>
        client.admin.createTaskEvent({
          event: { taskId: identifier(ResourceType.TASK), parentNodeExecutionId: node("ended"), occurredAt, phase: 1 },
        }),
    ],
    [
      "of a node of an unknown execution",
      NF,
      () => client.admin.createNodeEvent({ event: { id: node("nosuch"), occurredAt, phase: Node.RUNNING } }),
    ],
  ]);
});
