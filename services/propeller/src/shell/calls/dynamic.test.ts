import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { createBlobStore } from "@flyte-ts/blobstore";
import { DynamicJobSpecSchema } from "@flyte-ts/idl/flyteidl/core/dynamic_job_pb";
import {
  type Identifier,
  IdentifierSchema,
  ResourceType,
  WorkflowExecutionIdentifierSchema,
} from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { type Channel, Code, createRpcServer, implement, openChannel, RpcError, type RpcServer } from "@flyte-ts/rpc";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { CallOf } from "../../engine/calls/call.js";
import { type DynamicHandlerOptions, dynamicCallHandlers } from "./dynamic.js";

const INT = { type: { type: { case: "simple" as const, value: SimpleType.INTEGER } } };
const OUTPUTS = { variables: { o0: INT } };

function id(resourceType: ResourceType, name: string, project = "p"): Identifier {
  return create(IdentifierSchema, { resourceType, project, domain: "d", name, version: "v1" });
}

/** Projects of the references that admin was asked for, with the execution concerned. */
const asked: string[] = [];
beforeEach(() => void asked.splice(0));

function task(name: string, project?: string) {
  return create(TaskTemplateSchema, { id: id(ResourceType.TASK, name, project), type: "echo", interface: { outputs: OUTPUTS } });
}

let server: RpcServer;
let channel: Channel;
let folder: string;
const blobs = createBlobStore({});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "dynamic-"));
  const admin = implement(AdminService, {
    getLaunchPlan: ({ id: wanted }, context) => {
      asked.push(`${wanted?.project} ${context.metadata.get("flyte-ts-execution")}`);
      if (wanted?.project === "secret") throw new RpcError(Code.PERMISSION_DENIED, '"bob" may not call GetLaunchPlan');
      if (wanted?.name !== "plan") throw new RpcError(Code.NOT_FOUND, "no such launch plan");
      return { id: wanted, closure: { expectedOutputs: OUTPUTS } };
    },
    getTask: ({ id: wanted }, context) => {
      asked.push(`${wanted?.project} ${context.metadata.get("flyte-ts-execution")}`);
      if (wanted?.project === "secret") throw new RpcError(Code.PERMISSION_DENIED, '"bob" may not call GetTask');
      if (wanted?.name !== "registered") throw new RpcError(Code.NOT_FOUND, "no such task");
      return { id: wanted, closure: { compiledTask: { template: task("registered", wanted.project) } } };
    },
  });
  server = createRpcServer({ logger: createLogger({ service: "test", level: "silent" }), services: [admin] });
  const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
  channel = openChannel({ endpoint: `127.0.0.1:${port}` });
});

afterAll(async () => {
  channel.close();
  await server.drain({ deadlineMs: 200 });
  await rm(folder, { recursive: true });
});

function createHandler(options: Partial<DynamicHandlerOptions> = {}) {
  const defaults = { channel, blobs, concurrency: 2, maxBytes: 100_000, maxEventBytes: 100_000, limits: LIMITS };
  const { readDynamic } = dynamicCallHandlers({ ...defaults, ...options });
  return (call: CallOf<"readDynamic">) => readDynamic(call, "p-d/e");
}

const LIMITS = { maxInstances: 1_000, maxDepth: 10 };
const none = { cpu: "", memory: "", ephemeralStorage: "", storage: "", gpu: "" };

function question(name: string, compiledBefore = false): CallOf<"readDynamic"> {
  return {
    kind: "readDynamic",
    attemptDir: `file://${folder}/${name}/0`,
    id: id(ResourceType.WORKFLOW, "dynamic_n0"),
    execution: create(WorkflowExecutionIdentifierSchema, { project: "p", domain: "d", name: "e 1" }),
    parent: task("parent", "parents"),
    options: { resources: { defaults: none, limits: none } },
    compiledBefore,
  };
}

type Spec = MessageInitShape<typeof DynamicJobSpecSchema>;

async function made(name: string, spec: Spec): Promise<void> {
  await blobs.put(`file://${folder}/${name}/0/futures.pb`, toBinary(DynamicJobSpecSchema, create(DynamicJobSpecSchema, spec)));
}

function outputOf(nodeId: string): NonNullable<Spec["outputs"]> {
  return [{ var: "o0", binding: { value: { case: "promise", value: { nodeId, var: "o0" } } } }];
}

function runs(reference: Identifier): NonNullable<Spec["nodes"]>[number] {
  const target =
    reference.resourceType === ResourceType.TASK
      ? { case: "taskNode" as const, value: { reference: { case: "referenceId" as const, value: reference } } }
      : { case: "workflowNode" as const, value: { reference: { case: "launchplanRef" as const, value: reference } } };
  return { id: "dn0", target };
}

describe("the workflow of a dynamic task", () => {
  it("is compiled, stored beside its source, and read from there the next time", async () => {
    await made("own", { nodes: [runs(id(ResourceType.TASK, "own"))], tasks: [task("own")], outputs: outputOf("dn0") });
    const answer = await createHandler()(question("own"));
    if (answer.kind !== "value") throw new Error(JSON.stringify(answer));
    expect([...answer.value.model.root.nodes.keys()].sort()).toEqual(["dn0", "end-node", "start-node"]);
    expect(answer.value.closure?.primary?.template?.id?.name).toBe("dynamic_n0");
    await blobs.delete(`file://${folder}/own/0/futures.pb`);
    expect(await createHandler()(question("own", true))).toMatchObject({ kind: "value" });
    expect(await createHandler({ maxEventBytes: 10 })(question("own", true))).toMatchObject({
      kind: "value",
      value: { closure: undefined },
    });
  });

  it("may refer to launch plans and tasks of admin", async () => {
    await made("plan", { nodes: [runs(id(ResourceType.LAUNCH_PLAN, "plan"))], outputs: outputOf("dn0") });
    expect(await createHandler()(question("plan"))).toMatchObject({ kind: "value" });
    await made("registered", { nodes: [runs(id(ResourceType.TASK, "registered"))], outputs: outputOf("dn0") });
    const answer = await createHandler()(question("registered"));
    expect(answer.kind === "value" && [...answer.value.model.tasks.keys()]).toHaveLength(1);
  });

  it("reads what is neither of the execution's nor of its task's project with the rights of the execution's launcher", async () => {
    const plan = (project: string) => ({ ...runs(id(ResourceType.LAUNCH_PLAN, "plan", project)), id: `plan-${project}` });
    const reads = (project: string) => ({ ...runs(id(ResourceType.TASK, "registered", project)), id: `task-${project}` });
    const nodes = ["p", "parents", "library"].flatMap((project) => [plan(project), reads(project)]);
    await made("crossing", { nodes, outputs: outputOf("plan-library") });
    expect(await createHandler()(question("crossing"))).toMatchObject({ kind: "value" });
    const execution = "p/d/e%201";
    expect(asked.toSorted()).toEqual(
      ["p undefined", "parents undefined", `library ${execution}`].flatMap((each) => [each, each]).toSorted(),
    );
  });

  it.each([
    ["refers to a task", id(ResourceType.TASK, "registered", "secret"), []],
    ["refers to a launch plan", id(ResourceType.LAUNCH_PLAN, "plan", "secret"), []],
    ["contains a task under the name of one", id(ResourceType.TASK, "own", "secret"), [task("own", "secret")]],
  ])("is refused when it %s of a project that the execution's launcher may not read", async (_, reference, tasks) => {
    await made("secret", { nodes: [runs(reference)], tasks, outputs: outputOf("dn0") });
    expect(await createHandler()(question("secret"))).toMatchObject({
      kind: "refused",
      message: expect.stringMatching(/^\[User\] .* (task|launchplan) secret:d:\w+:v1, caused by: "bob" may not call/),
    });
  });

  it("may contain tasks with names of another project that the execution's launcher may read", async () => {
    const spec = { nodes: [runs(id(ResourceType.TASK, "fetched", "library"))], tasks: [task("fetched", "library")] };
    await made("inlined", { ...spec, outputs: outputOf("dn0") });
    expect(await createHandler()(question("inlined"))).toMatchObject({ kind: "value" });
    expect(asked).toEqual(["library p/d/e%201"]);
  });

  it.each([
    [
      "refers to an unknown launch plan",
      { nodes: [runs(id(ResourceType.LAUNCH_PLAN, "other"))] },
      /incorrectly specified launchplan p:d:other:v1/,
    ],
    ["refers to an unknown task", { nodes: [runs(id(ResourceType.TASK, "other"))] }, /incorrectly specified task p:d:other:v1/],
    ["lacks an output that the task declares", { nodes: [], tasks: [] }, /malformed dynamic workflow/],
  ])("is refused when it %s", async (_, spec, message) => {
    await made("bad", spec);
    const answer = await createHandler()(question("bad"));
    expect(answer).toMatchObject({ kind: "refused", code: "INVALID_ARGUMENT" });
    expect(answer.kind === "refused" && answer.message).toMatch(message);
  });

  it("is refused when its sub-workflows have more nodes than an execution may hold", async () => {
    const below = (level: number) => id(ResourceType.WORKFLOW, `s${level}`);
    const twice = (level: number): NonNullable<Spec["nodes"]> =>
      ["a", "b"].map((name) => ({
        id: name,
        target: { case: "workflowNode", value: { reference: { case: "subWorkflowRef", value: below(level) } } },
      }));
    const levels = Array.from({ length: 40 }, (_, i) => i);
    const last = [{ ...runs(id(ResourceType.TASK, "own")) }];
    const subworkflows = levels.map((i) => ({ id: below(i), interface: {}, nodes: i === 39 ? last : twice(i + 1) }));
    await made("bomb", { nodes: [...twice(0), ...last], tasks: [task("own")], subworkflows, outputs: outputOf("dn0") });
    const many = await createHandler({ limits: { maxInstances: 1_000, maxDepth: 100 } })(question("bomb"));
    expect(many).toMatchObject({ kind: "refused", message: expect.stringMatching(/comes to \d+ node instances .* the limit is 1000$/) });
    expect(await createHandler()(question("bomb"))).toMatchObject({
      kind: "refused",
      message: expect.stringMatching(/41 deep, the limit is 10$/),
    });
  });

  it("is refused when it is missing, undecodable or too large", async () => {
    expect(await createHandler()(question("missing"))).toMatchObject({ kind: "refused" });
    await blobs.put(`file://${folder}/broken/0/futures.pb`, new Uint8Array([255, 255, 255]));
    expect(await createHandler()(question("broken"))).toMatchObject({ kind: "refused" });
    await made("large", { nodes: [runs(id(ResourceType.TASK, "own"))], tasks: [task("own")], outputs: outputOf("dn0") });
    expect(await createHandler({ maxBytes: 10 })(question("large"))).toMatchObject({ kind: "refused", code: "OUT_OF_RANGE" });
  });

  it("is requested again when admin does not answer", async () => {
    await made("unreachable", { nodes: [runs(id(ResourceType.LAUNCH_PLAN, "plan"))], outputs: outputOf("dn0") });
    const unreachable = openChannel({ endpoint: "127.0.0.1:1", deadlineMs: 2_000 });
    expect(await createHandler({ channel: unreachable })(question("unreachable"))).toMatchObject({ kind: "error" });
    unreachable.close();
  });
});
