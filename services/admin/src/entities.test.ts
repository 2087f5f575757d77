import { create, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import type { SortSchema } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { LaunchPlanState } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { MatchableResource } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import { InactiveProjectSchema, Project_ProjectState } from "@flyte-ts/idl/flyteidl/admin/project_pb";
import { CreateWorkflowFailureReasonSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { type IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { Database } from "@flyte-ts/postgres";
import { Code, RpcError, type ServiceClient } from "@flyte-ts/rpc";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { adminConfigSchema } from "./config.js";
import { type AdminDatabase, adminDatabase } from "./database.fixture.js";
import { launchPlanEntity } from "./registry/store/launch-plans.js";
import type { Column, ListEntity } from "./platform/list-query/entity.js";
import { namedEntityEntity } from "./registry/store/named-entities.js";
import { projectEntity } from "./registry/store/projects.js";
import { seedProjects } from "./registry/project/rpc.js";
import { serveAdmin, type ServedAdmin } from "./served-admin.fixture.js";
import { mapInfrastructureErrors } from "./server.js";
import { taskEntity } from "./registry/store/tasks.js";
import { workflowEntity } from "./registry/store/workflows.js";

const config = adminConfigSchema.parse({ registration: { maxWorkflowNodes: 3 }, taskResources: { limits: { cpu: "4" } } });
let database: AdminDatabase;
let db: Database;
let served: ServedAdmin;
let admin: ServiceClient<typeof AdminService>;

beforeAll(async () => {
  database = await adminDatabase();
  db = database.db;
  served = await serveAdmin({ config, db }, [mapInfrastructureErrors]);
  admin = served.admin;
  await seedProjects(served.deps);
});
afterAll(async () => {
  await served.stop();
  await database.stop();
});

type Id = MessageInitShape<typeof IdentifierSchema>;
const scope = { project: "flytesnacks", domain: "development" };
const named = (resourceType: ResourceType, name: string, version = "v1") => ({ resourceType, ...scope, name, version });
const integer = { variables: { x: { type: { type: { case: "simple" as const, value: SimpleType.INTEGER } } } } };

type Template = Omit<MessageInitShape<typeof TaskTemplateSchema>, "$typeName">;

function template(change: Template = {}): Template {
  return {
    type: "python-task",
    metadata: {},
    interface: { inputs: {}, outputs: {} },
    target: { case: "container", value: { image: "image:1", args: ["run"] } },
    ...change,
  };
}

const pod = (resources: JsonObject[]): Template => ({
  type: "sidecar",
  target: { case: "k8sPod", value: { podSpec: { containers: resources.map((one, i) => ({ name: `c${i}`, resources: one })) } } },
});
const createTask = (name: string, change: Template = {}, version = "v1") =>
  admin.createTask({ id: named(ResourceType.TASK, name, version), spec: { template: template(change) } });

const workflow = (name: string, task: string, nodes = 1) => ({
  id: named(ResourceType.WORKFLOW, name),
  spec: {
    template: {
      id: named(ResourceType.WORKFLOW, name),
      metadata: {},
      metadataDefaults: {},
      interface: { inputs: integer, outputs: {} },
      nodes: Array.from({ length: nodes }, (_, i) => ({
        id: `n${i}`,
        metadata: { name: `n${i}` },
        target: {
          case: "taskNode" as const,
          value: { reference: { case: "referenceId" as const, value: named(ResourceType.TASK, task) } },
        },
      })),
    },
  },
});

const launchPlan = (name: string, workflowName: string, version = "v1", labels: Record<string, string> = {}) => ({
  id: named(ResourceType.LAUNCH_PLAN, name, version),
  spec: { workflowId: named(ResourceType.WORKFLOW, workflowName), entityMetadata: {}, labels: { values: labels } },
});

async function failure(call: Promise<unknown>): Promise<RpcError> {
  const error: unknown = await call.then(
    () => new Error("it succeeded"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(RpcError);
  return error as RpcError;
}

/** Returns the results of eight equal concurrent calls. */
async function atOnce(call: () => Promise<unknown>): Promise<string[]> {
  const results = await Promise.allSettled(Array.from({ length: 8 }, call));
  return results.map((result) => (result.status === "fulfilled" ? "OK" : `${(result.reason as RpcError).code}`)).sort();
}
const once = ["6", "6", "6", "6", "6", "6", "6", "OK"];

describe("registration", () => {
  test("stores a task once under concurrency, and refuses a different one with the differences", async () => {
    expect(await atOnce(() => createTask("same", { custom: { b: 1, a: 2 } }))).toEqual(once);
    expect((await failure(createTask("same", { custom: { a: 2, b: 1 } }))).code).toBe(Code.ALREADY_EXISTS);
    const different = await failure(createTask("same", { target: { case: "container", value: { image: "image:2", args: ["run"] } } }));
    expect(different.code).toBe(Code.INVALID_ARGUMENT);
    expect(different.message).toContain("/template/container/image:\n\t- image:1 \n\t+ image:2");
    const { entities } = await admin.listNamedEntities({ resourceType: ResourceType.TASK, ...scope, limit: 10, filters: "eq(name,same)" });
    expect(entities).toHaveLength(1);
  });

  test("stores a workflow and a launch plan once under concurrency", async () => {
    await createTask("t");
    expect(await atOnce(() => admin.createWorkflow(workflow("once", "t")))).toEqual(once);
    expect(await atOnce(() => admin.createLaunchPlan(launchPlan("once", "once")))).toEqual(once);
    const again = await failure(admin.createWorkflow(workflow("once", "t")));
    expect(again.findDetails(CreateWorkflowFailureReasonSchema)[0]?.reason.case).toBe("existsIdenticalStructure");
    const different = await failure(admin.createWorkflow(workflow("once", "t", 2)));
    expect(different.code).toBe(Code.INVALID_ARGUMENT);
    expect(different.findDetails(CreateWorkflowFailureReasonSchema)[0]?.reason.case).toBe("existsDifferentStructure");
    const plan = await failure(admin.createLaunchPlan(launchPlan("once", "once", "v1", { a: "b" })));
    expect(plan.code).toBe(Code.INVALID_ARGUMENT);
    expect(plan.message).toContain("/labels/values/a:");
    // Names of launch plans can be listed for all projects; those of tasks and workflows only for
    // one domain.
    expect((await admin.listLaunchPlanIds({ limit: 100 })).entities.map(({ name }) => name)).toContain("once");
    expect((await failure(admin.listWorkflowIds({ limit: 100 }))).code).toBe(Code.INVALID_ARGUMENT);
    const stored = await admin.getWorkflow({ id: named(ResourceType.WORKFLOW, "once") });
    expect(stored.closure?.compiledWorkflow?.primary?.template?.nodes.map(({ id }) => id)).toEqual(["start-node", "end-node", "n0"]);
  });

  test("stores the description of a task beside it", async () => {
    const id = named(ResourceType.TASK, "described");
    const description = { shortDescription: "short", longDescription: { content: { case: "value" as const, value: "long" } } };
    await admin.createTask({ id, spec: { template: template(), description } });
    expect((await admin.getTask({ id })).shortDescription).toBe("short");
    const kept = await admin.getDescriptionEntity({ id });
    expect(kept.longDescription?.content.value).toBe("long");
    const { descriptionEntities } = await admin.listDescriptionEntities({ resourceType: id.resourceType, id, limit: 5 });
    const untyped = await admin.listDescriptionEntities({ id, limit: 5 });
    expect(untyped.descriptionEntities).toEqual(descriptionEntities);
    expect(await admin.getDescriptionEntity({ id: { ...id, resourceType: ResourceType.UNSPECIFIED } })).toEqual(kept);
    expect(descriptionEntities).toEqual([kept]);
  });

  test("lists descriptions by name, those of the requested kind first", async () => {
    const described = (resourceType: ResourceType, name: string) => ({ id: named(resourceType, name) });
    const description = { shortDescription: "x".repeat(300) };
    await admin.createTask({ id: named(ResourceType.TASK, "both"), spec: { template: template(), description } });
    const { spec } = workflow("both", "both");
    await admin.createWorkflow({ id: named(ResourceType.WORKFLOW, "both"), spec: { ...spec, description } });
    await admin.createTask({ id: named(ResourceType.TASK, "one"), spec: { template: template(), description } });
    const kind = async (type: ResourceType, name: string) => (await admin.getDescriptionEntity(described(type, name))).id?.resourceType;
    expect(await kind(ResourceType.TASK, "both")).toBe(ResourceType.TASK);
    expect(await kind(ResourceType.WORKFLOW, "both")).toBe(ResourceType.WORKFLOW);
    expect(await kind(ResourceType.WORKFLOW, "one")).toBe(ResourceType.TASK);
    expect(await kind(ResourceType.LAUNCH_PLAN, "one")).toBe(ResourceType.TASK);
    const { descriptionEntities } = await admin.listDescriptionEntities({
      resourceType: ResourceType.LAUNCH_PLAN,
      id: { ...scope, name: "both" },
      limit: 5,
    });
    expect(new Set(descriptionEntities.map(({ id }) => id?.resourceType))).toEqual(new Set([ResourceType.TASK, ResourceType.WORKFLOW]));
  });

  test.each<[string, () => Promise<unknown>, string]>([
    ["a task without version", () => createTask("x", {}, ""), "version"],
    ["a task with NUL in its name", () => createTask("x\0y"), "name"],
    ["a task without a type", () => createTask("x", { type: "" }), "type"],
    ["a container without image", () => createTask("x", { target: { case: "container", value: { args: ["run"] } } }), "image"],
    ["a pod without spec", () => createTask("x", { target: { case: "k8sPod", value: {} } }), "pod_spec"],
    ["a pod with a request above the platform's limit", () => createTask("x", pod([{}, { requests: { cpu: 5 } }])), "CPU default [5]"],
    [
      "a pod with a request above its limit",
      () => createTask("x", pod([{ requests: { Memory: "2Gi" }, limits: { memory: "1Gi" } }])),
      "MEMORY default",
    ],
    ["a pod with an invalid quantity", () => createTask("x", pod([{ requests: { cpu: "lots" } }])), "containers[0].resources.requests.cpu"],
    ["a runtime without version", () => createTask("x", { metadata: { runtime: {} } }), "runtime version"],
    ["a workflow with a missing task", () => admin.createWorkflow(workflow("x", "nosuch")), "nosuch"],
    ["a workflow with too many nodes", () => admin.createWorkflow(workflow("x", "t", 4)), "4 > 3"],
    ["an unknown launch plan state", () => admin.updateLaunchPlan({ id: named(0, "once"), state: 5 as LaunchPlanState }), "state 5"],
    ["an unknown domain", () => admin.createTask({ id: { ...named(ResourceType.TASK, "x"), domain: "moon" } }), "moon"],
    ["a project id that is not a DNS label", () => admin.registerProject({ project: { id: "A_b", name: "n" } }), "A_b"],
  ])("%s is refused with the field", async (_, call, name) => {
    const error = await failure(call());
    expect(error.code).toBe(Code.INVALID_ARGUMENT);
    expect(error.message).toContain(name);
  });

  test("is refused in an archived project", async () => {
    await admin.registerProject({ project: { id: "old", name: "Old" } });
    await admin.updateProject({ id: "old", state: Project_ProjectState.ARCHIVED });
    const id: Id = { ...named(ResourceType.TASK, "x"), project: "old" };
    const error = await failure(admin.createTask({ id, spec: { template: template() } }));
    expect(error.code).toBe(Code.INVALID_ARGUMENT);
    expect(error.findDetails(InactiveProjectSchema)).toEqual([create(InactiveProjectSchema, { id: "old" })]);
    const ids = async (filters: string) => (await admin.listProjects({ filters })).projects.map((project) => project.id);
    expect(await ids("")).not.toContain("old");
    expect(await ids("eq(state,1)")).toEqual(["old"]);
  });
});

describe("activation", () => {
  test("keeps one version active under concurrency, and its schedule", async () => {
    await createTask("cron");
    await admin.createWorkflow({ ...workflow("cron", "cron") });
    const versions = ["v1", "v2", "v3", "v4"];
    for (const version of versions) {
      const schedule = { ScheduleExpression: { case: "cronSchedule" as const, value: { schedule: "@daily" } } };
      const plan = launchPlan("cron", "cron", version);
      const fixedInputs = {
        literals: {
          x: {
            value: {
              case: "scalar" as const,
              value: { value: { case: "primitive" as const, value: { value: { case: "integer" as const, value: 1n } } } },
            },
          },
        },
      };
      await admin.createLaunchPlan({ ...plan, spec: { ...plan.spec, fixedInputs, entityMetadata: { schedule } } });
    }
    const activate = (version: string) =>
      admin.updateLaunchPlan({ id: named(ResourceType.UNSPECIFIED, "cron", version), state: LaunchPlanState.ACTIVE });
    await Promise.all([...versions, ...versions].map(activate));
    const active = await admin.getActiveLaunchPlan({ id: { ...scope, name: "cron" } });
    const { launchPlans } = await admin.listActiveLaunchPlans({ ...scope, limit: 10 });
    expect(launchPlans.map(({ id }) => id?.version)).toEqual([active.id?.version]);
    const schedules = () =>
      db.query({ text: "SELECT launch_plans.version FROM schedules JOIN launch_plans ON launch_plans.id = launch_plan_id" });
    expect((await schedules()).rows).toEqual([{ version: active.id?.version }]);
    if (active.id === undefined) throw new Error("no id");
    await admin.updateLaunchPlan({ id: active.id, state: LaunchPlanState.INACTIVE });
    expect((await schedules()).rows).toEqual([]);
    expect((await failure(admin.getActiveLaunchPlan({ id: { ...scope, name: "cron" } }))).code).toBe(Code.NOT_FOUND);
  });
});

describe("lists on PostgreSQL", () => {
  const lists: [string, ListEntity, (filters: string, sortBy?: MessageInitShape<typeof SortSchema>) => Promise<unknown>][] = [
    ["tasks", taskEntity, (filters, sortBy) => admin.listTasks({ id: scope, limit: 10, filters, ...(sortBy && { sortBy }) })],
    ["workflows", workflowEntity, (filters, sortBy) => admin.listWorkflows({ id: scope, limit: 10, filters, ...(sortBy && { sortBy }) })],
    [
      "launch plans",
      launchPlanEntity,
      (filters, sortBy) => admin.listLaunchPlans({ id: scope, limit: 10, filters, ...(sortBy && { sortBy }) }),
    ],
    ["projects", projectEntity, (filters, sortBy) => admin.listProjects({ limit: 10, filters, ...(sortBy && { sortBy }) })],
    [
      "named entities",
      namedEntityEntity,
      (filters, sortBy) =>
        admin.listNamedEntities({ resourceType: ResourceType.TASK, ...scope, limit: 10, filters, ...(sortBy && { sortBy }) }),
    ],
  ];
  const sample: Record<Column["type"], string> = {
    text: "a",
    int4: "1",
    int8: "1",
    timestamp: "2024-03-01T10:00:00Z",
    duration: "1h",
    bytes: "a",
  };
  const functions = ["eq", "ne", "gt", "gte", "lt", "lte", "contains", "not_like", "value_in", "value_not_in"];

  test.each(lists)("every filter function on every column of %s is answered or refused with the column", async (_, entity, list) => {
    const fields: [string, Column][] = [
      ...Object.entries(entity.columns),
      ...Object.entries(entity.related).flatMap(([prefix, related]) =>
        Object.entries(related.columns).map(([name, column]): [string, Column] => [`${prefix}.${name}`, column]),
      ),
    ];
    for (const [field, { type }] of fields) {
      for (const name of functions) {
        const allowed = type === "text" || (type !== "bytes" && name !== "contains" && name !== "not_like");
        const answered = list(`${name}(${field},${sample[type]})`).then(
          () => "OK",
          (error: RpcError) => error.code,
        );
        expect([name, field, await answered]).toEqual([name, field, allowed ? "OK" : Code.INVALID_ARGUMENT]);
      }
    }
    for (const key of Object.keys(entity.columns)) for (const direction of [0, 1]) await list("", { key, direction });
  });

  test("the pages in order of a column join to the whole list", async () => {
    for (let i = 0; i < 7; i++) await createTask("paged", { target: { case: undefined } }, `v${i}`);
    const seen: (string | undefined)[] = [];
    let token = "";
    do {
      const page = await admin.listTasks({ id: { ...scope, name: "paged" }, limit: 3, token, sortBy: { key: "type", direction: 1 } });
      seen.push(...page.tasks.map(({ id }) => id?.version));
      token = page.token;
    } while (token !== "");
    expect(seen).toEqual(["v0", "v1", "v2", "v3", "v4", "v5", "v6"]);
  });
});

describe("hostile requests", () => {
  const declared = new Set<number>([Code.INVALID_ARGUMENT, Code.NOT_FOUND, Code.ALREADY_EXISTS]);
  /** Undefined when the call succeeds or fails with a declared code. */
  const undeclared = (call: Promise<unknown>) =>
    call.then(
      () => undefined,
      (error: RpcError) => (declared.has(error.code) ? undefined : `${error.code} ${error.message}`),
    );
  const piece = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 12 }),
    fc.constantFrom("\0", "'", "%", "..", "n".repeat(600), "é".repeat(300)),
  );
  const text = fc.array(piece, { maxLength: 3 }).map((parts) => parts.join(""));

  test("no identifier causes an internal error", async () => {
    const run = fc.asyncProperty(text, text, fc.integer({ min: -1, max: 9 }), async (name, version, type) => {
      const id = { resourceType: type as ResourceType, ...scope, name, version };
      const task = { ...id, resourceType: ResourceType.TASK };
      const calls = [
        admin.createTask({ id: task, spec: { template: template({ type: name }) } }),
        admin.getTask({ id }),
        admin.getWorkflow({ id }),
        admin.getLaunchPlan({ id: { ...id, project: name } }),
        admin.updateLaunchPlan({ id, state: LaunchPlanState.ACTIVE }),
        admin.getDescriptionEntity({ id }),
        admin.getNamedEntity({ resourceType: id.resourceType, id: { ...scope, name } }),
        admin.updateNamedEntity({ resourceType: ResourceType.TASK, id: { ...scope, name }, metadata: { description: version } }),
        admin.listTasks({ id: { ...scope, name }, limit: 5, token: version }),
        admin.listNamedEntities({ resourceType: id.resourceType, project: name, domain: version, limit: 5 }),
        admin.getProject({ id: name }),
        admin.registerProject({ project: { id: name, name: version, description: name, labels: { values: { [name]: version } } } }),
        admin.getWorkflowAttributes({ ...scope, workflow: name, resourceType: type as MatchableResource }),
      ];
      expect(await Promise.all(calls.map(undeclared))).toEqual(calls.map(() => undefined));
    });
    await fc.assert(run, { numRuns: 150 });
  });

  test("no filter, sort key or token causes an internal error", async () => {
    const word = fc.constantFrom(
      "name",
      "state",
      "created_at",
      "id",
      "workflow.name",
      "closure",
      "nosuch",
      "task.name",
      "schedule_type",
      "-",
    );
    const value = fc.oneof(text, fc.constantFrom("1", "a;b", "2024-03-01", "99999999999999999999", "\\", "%\\"));
    const term = fc.tuple(fc.constantFrom("eq", "ne", "gt", "lte", "contains", "not_like", "value_in", "value_not_in", "x"), word, value);
    const filters = fc
      .array(term, { maxLength: 3 })
      .map((terms) => terms.map(([name, field, given]) => `${name}(${field},${given})`).join("+"));
    const run = fc.asyncProperty(filters, word, fc.oneof(fc.constant(""), text), async (given, key, token) => {
      const request = { limit: 5, filters: given, token, sortBy: { key, direction: 1 } };
      const calls = [
        admin.listLaunchPlans({ id: scope, ...request }),
        admin.listTasks({ id: scope, ...request }),
        admin.listProjects(request),
        admin.listNamedEntities({ resourceType: ResourceType.TASK, ...scope, ...request }),
        admin.listTaskIds({ ...scope, ...request }),
        admin.listDescriptionEntities({ resourceType: ResourceType.TASK, id: { ...scope, name: "described" }, ...request }),
      ];
      expect(await Promise.all(calls.map(undeclared))).toEqual(calls.map(() => undefined));
    });
    await fc.assert(run, { numRuns: 200 });
  });
});

test("missing attributes are refused with the text that clients of Flyte 1.16 recognize", async () => {
  const request = { project: scope.project, domain: "staging", resourceType: MatchableResource.TASK_RESOURCE };
  await expect(admin.getProjectDomainAttributes(request)).rejects.toMatchObject({
    code: Code.NOT_FOUND,
    message: expect.stringContaining(
      `Resource [{Project:${scope.project} Domain:staging Workflow: LaunchPlan: ResourceType:TASK_RESOURCE}] not found`,
    ) as string,
  });
});

describe("attributes", () => {
  const queue = (tag: string) => ({ target: { case: "executionQueueAttributes" as const, value: { tags: [tag] } } });
  const kind = MatchableResource.EXECUTION_QUEUE;

  test("apply from the most specific level, and concurrent updates of plugin overrides are all kept", async () => {
    const { project, domain } = scope;
    await admin.updateProjectAttributes({ attributes: { project, matchingAttributes: queue("p") } });
    const ofWorkflow = async () => {
      const { attributes } = await admin.getWorkflowAttributes({ project, domain, workflow: "w", resourceType: kind });
      const target = attributes?.matchingAttributes?.target;
      return [attributes?.domain, attributes?.workflow, target?.case === "executionQueueAttributes" ? target.value.tags : undefined];
    };
    expect(await ofWorkflow()).toEqual(["", "", ["p"]]);
    await admin.updateProjectDomainAttributes({ attributes: { project, domain, matchingAttributes: queue("d") } });
    expect(await ofWorkflow()).toEqual([domain, "", ["d"]]);
    await admin.updateWorkflowAttributes({ attributes: { project, domain, workflow: "w", matchingAttributes: queue("w") } });
    expect(await ofWorkflow()).toEqual([domain, "w", ["w"]]);
    const { configurations } = await admin.listMatchableAttributes({ resourceType: kind });
    expect(configurations.map(({ workflow: name, domain: d }) => [d, name])).toEqual([
      [domain, "w"],
      [domain, ""],
      ["", ""],
    ]);
    await admin.deleteWorkflowAttributes({ project, domain, workflow: "w", resourceType: kind });
    expect(await ofWorkflow()).toEqual([domain, "", ["d"]]);

    await Promise.all(
      Array.from({ length: 6 }, (_, i) => {
        const overrides = [{ taskType: `t${i}`, pluginId: ["p"] }];
        const matchingAttributes = { target: { case: "pluginOverrides" as const, value: { overrides } } };
        return admin.updateProjectAttributes({ attributes: { project, matchingAttributes } });
      }),
    );
    const { attributes } = await admin.getProjectAttributes({ project, resourceType: MatchableResource.PLUGIN_OVERRIDE });
    const target = attributes?.matchingAttributes?.target;
    expect(target?.case === "pluginOverrides" && target.value.overrides.map(({ taskType }) => taskType).sort()).toEqual(
      Array.from({ length: 6 }, (_, i) => `t${i}`),
    );
  });
});

test("an unavailable database is reported as UNAVAILABLE, and the next call succeeds", async () => {
  await database.postgres.kill();
  expect((await failure(admin.listProjects({}))).code).toBe(Code.UNAVAILABLE);
  await database.postgres.restart();
  const listed = () => admin.listProjects({ filters: "eq(identifier,flytesnacks)" });
  await vi.waitFor(async () => expect((await listed()).projects).toHaveLength(1), { timeout: 30_000 });
});
