import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { BlobUnavailableError } from "@flyte-ts/blobstore";
import { literalMap, mapLiteral, stringLiteral, structLiteral } from "@flyte-ts/domain/literal";
import { ConcurrencyLimitBehavior, LaunchPlanState } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { About, FiringState, type TriggerSchema, TriggerState } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import type { Database } from "@flyte-ts/postgres";
import { Code } from "@flyte-ts/rpc";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { id, integer, registerLaunchPlan, scope } from "../../executions/execution/registered-workflow.fixture.js";
import { completedColumns, type CompletedRow } from "../../executions/store/completions.js";
import { completedExecution } from "../model/completed-execution.js";
import { createFirings } from "./match-completions.js";
import { atOutput } from "./output-path.js";
import { type TriggerWorld, triggerWorld } from "./trigger.fixture.js";

const { SUCCEEDED, FAILED, RUNNING, ABORTED } = WorkflowExecution_Phase;
let world: TriggerWorld;
beforeAll(async () => {
  world = await triggerWorld();
  const { admin } = world.served;
  for (const name of ["source", "target", "sleeping"]) await registerLaunchPlan(admin, name);
  await registerLaunchPlan(admin, "fixed", { fixedInputs: { literals: { x: integer(1n) } } });
  await registerLaunchPlan(admin, "single", { concurrencyPolicy: { max: 1, behavior: ConcurrencyLimitBehavior.SKIP } });
  for (const name of ["source", "target", "fixed", "single"]) {
    await admin.updateLaunchPlan({ id: id(ResourceType.LAUNCH_PLAN, name), state: LaunchPlanState.ACTIVE });
  }
});
afterAll(() => world.stop());
beforeEach(async () => {
  await world.database.db.query({ text: "DELETE FROM triggers" });
  await world.database.db.query({ text: "DELETE FROM executions" });
});

type Init = Omit<MessageInitShape<typeof TriggerSchema>, "$typeName">;
type Inputs = Init["inputs"];
const launch = (name: string) => ({ ...scope, name });
const fromOutput = (value: string): Inputs => ({ x: { source: { case: "output", value } } });
const one: Inputs = { x: { source: { case: "literal", value: integer(1n) } } };
/** A trigger on executions of `source`, unless `changes` set another source. */
const trigger = (name: string, changes: Init = {}): Init => ({
  id: { ...scope, name },
  launchPlan: launch("target"),
  source: { case: "execution", value: { launchPlan: "source" } },
  inputs: one,
  ...changes,
});
const make = (name: string, changes: Init = {}) => world.triggers.createTrigger({ trigger: trigger(name, changes) });
const inputsOf = async (name: string) => (await world.served.admin.getExecutionData({ id: { ...scope, name } })).fullInputs?.literals;

test("the end of an execution starts another with parts of its outputs, once for all replicas", async () => {
  await make("follow", { inputs: fromOutput("/o0/rows/0") });
  await world.run("source", "s1");
  await world.end("s1", SUCCEEDED, { o0: mapLiteral([["rows", structLiteral({ "0": 42 })]]) });
  await Promise.all([world.settle(), world.settle(), world.settle()]);
  await world.settle();
  expect(await world.fired()).toEqual(["s1 started"]);
  const [started, ...more] = await world.started();
  expect(more).toEqual([]);
  expect(started).toMatchObject({ launchPlan: "target", mode: 6 });
  // The output was a float inside a struct.
  expect(await inputsOf(started?.name ?? "")).toMatchObject({ x: integer(42n) });
  const { spec } = await world.served.admin.getExecution({ id: { ...scope, name: started?.name ?? "" } });
  expect(spec?.metadata?.referenceExecution).toMatchObject({ ...scope, name: "s1" });
  const { firings } = await world.triggers.listFirings({ ...scope, name: "follow" });
  expect(firings).toMatchObject([
    {
      state: FiringState.STARTED,
      depth: 1,
      attempts: 1,
      cause: { case: "execution", value: { name: "s1" } },
      started: { name: started?.name },
    },
  ]);
});

test("a trigger fires only for ends that match its source, and not while it is paused", async () => {
  await make("any", { source: { case: "execution", value: {} } });
  await make("workflow", { source: { case: "execution", value: { workflow: "w", phases: [FAILED, ABORTED] } } });
  await make("other-workflow", { source: { case: "execution", value: { workflow: "w2" } } });
  await make("other-plan", { source: { case: "execution", value: { launchPlan: "target" } } });
  await make("other-project", { source: { case: "execution", value: { project: "other" } } });
  await make("paused");
  await world.triggers.setTriggerState({ id: { ...scope, name: "paused" }, state: TriggerState.PAUSED });
  await world.run("source", "s1");
  await world.run("source", "s2");
  await world.end("s1", RUNNING);
  await world.end("s1", SUCCEEDED);
  await world.end("s2", FAILED);
  await world.settle();
  expect(await world.fired("any")).toEqual(["s1 started"]);
  expect(await world.fired("workflow")).toEqual(["s2 started"]);
  expect(await world.fired()).toHaveLength(2);
  // Events during the pause do not fire later.
  await world.triggers.setTriggerState({ id: { ...scope, name: "paused" }, state: TriggerState.ACTIVE });
  await world.settle();
  expect(await world.fired("paused")).toEqual([]);
});

test("a crash between the start and its record leads to one execution", async () => {
  await make("follow");
  await world.run("source", "s1");
  await world.end("s1", SUCCEEDED);
  const { db } = world.database;
  const dead: Database = { ...db, query: (query) => (query.name === "end-firing" ? Promise.reject(new Error("dead")) : db.query(query)) };
  await world.settle({ db: dead, random: () => 1 });
  expect(await world.fired()).toEqual(["s1 waiting dead"]);
  expect(await world.started()).toHaveLength(1);
  await world.due();
  await world.settle();
  expect(await world.fired()).toEqual(["s1 started"]);
  expect(await world.started()).toHaveLength(1);
});

test("a repeated end fires nothing more", async () => {
  await make("follow");
  await world.run("source", "s1");
  await world.end("s1", SUCCEEDED);
  await world.settle();
  const { rows } = await world.database.db.query<CompletedRow>({
    text: `SELECT ${completedColumns} FROM executions e WHERE execution_name = 's1'`,
  });
  expect(await createFirings(world.database.db, rows.map(completedExecution), { maxDepth: 8 })).toBe(1);
  await world.settle();
  expect(await world.fired()).toEqual(["s1 started"]);
  // A later execution with the same name is a different one.
  const later = rows.map((row) => completedExecution({ ...row, accepted_ns: row.accepted_ns + 1n }));
  await createFirings(world.database.db, later, { maxDepth: 8 });
  await world.settle();
  expect(await world.started()).toHaveLength(2);
});

test("a cycle of triggers ends at the maximum depth, also across child executions", async () => {
  await make("circle", { source: { case: "execution", value: { launchPlan: "target" } } });
  await world.run("target", "s0");
  await world.end("s0", SUCCEEDED);
  const { maxDepth } = world.served.deps.config.triggers;
  for (let depth = 1; depth <= maxDepth; depth++) {
    await world.settle();
    const latest = (await world.started()).at(-1)?.name ?? "";
    if (depth === 3) {
      // A node of the latest execution launches `child`, and the source of the next firing is this
      // child.
      await world.run("target", "child");
      await world.database.db.query({
        text: `UPDATE executions SET parent_node_id = 'n0', parent_execution_id = (SELECT id FROM executions WHERE execution_name = $1)
          WHERE execution_name = 'child'`,
        values: [latest],
      });
      await world.end("child", SUCCEEDED);
    } else await world.end(latest, SUCCEEDED);
  }
  await world.settle();
  await world.settle();
  const fired = await world.fired("circle");
  expect(fired).toHaveLength(maxDepth + 1);
  expect(fired.at(-1)).toContain(
    `refused a chain of ${maxDepth} triggers led to this execution already, and triggers.maxDepth is ${maxDepth}`,
  );
  expect(await world.started()).toHaveLength(maxDepth);
});

test.each<[string, Init, string]>([
  ["a missing output", { inputs: fromOutput("o1") }, 'input x: there is no output "o1", only o0'],
  ["a missing part of an output", { inputs: fromOutput("/o0/a") }, 'input x: output /o0/a: there is no "a"'],
  ["an output of another type", { inputs: fromOutput("o0") }, "x"],
])("a firing is refused with the reason: %s", async (_, changes, reason) => {
  await make("wrong", changes);
  await world.run("source", "s1");
  await world.end("s1", SUCCEEDED, { o0: stringLiteral("text") });
  await world.settle();
  const [fired] = await world.fired();
  expect(fired).toMatch(/^s1 refused /);
  expect(fired).toContain(reason);
  expect(await world.started()).toEqual([]);
});

test("a firing is refused without an active version or above a limit of the launch plan", async () => {
  const { admin } = world.served;
  await make("first", { launchPlan: launch("single") });
  await make("second", { launchPlan: launch("single") });
  await world.run("source", "s1");
  await world.end("s1", SUCCEEDED);
  await world.settle();
  expect((await world.fired()).toSorted()).toEqual([expect.stringMatching(/^s1 refused .*concurren/i), "s1 started"]);
  await admin.updateLaunchPlan({ id: id(ResourceType.LAUNCH_PLAN, "single"), state: LaunchPlanState.INACTIVE });
  await world.run("source", "s2");
  await world.end("s2", SUCCEEDED);
  await world.settle();
  expect((await world.fired("first")).at(-1)).toBe("s2 refused launch plan single has no active version");
});

test("a firing whose inputs cannot be read is retried, and given up after its time", async () => {
  await make("follow", { inputs: fromOutput("o0") });
  await world.run("source", "s1");
  await world.end("s1", SUCCEEDED, { o0: integer(5n) });
  await world.database.db.query({ text: "UPDATE executions SET outputs = NULL, output_uri = 's3://b/o.pb' WHERE execution_name = 's1'" });
  const unavailable = { get: () => Promise.reject(new BlobUnavailableError("s3://b/o.pb", "away")) } as never;
  await world.settle({ blobs: unavailable });
  expect(await world.fired()).toEqual(["s1 waiting s3://b/o.pb: away"]);
  await world.due();
  await world.database.db.query({ text: "UPDATE trigger_firings SET created_at = now() - interval '25 hours'" });
  await world.settle({ blobs: unavailable });
  expect(await world.fired()).toEqual(["s1 refused given up: s3://b/o.pb: away"]);
});

test("an unreadable trigger does not prevent others from firing", async () => {
  await make("broken");
  await make("follow");
  await world.database.db.query({ text: "UPDATE triggers SET trigger = '\\xff' WHERE name = 'broken'" });
  await world.run("source", "s1");
  await world.end("s1", SUCCEEDED);
  await world.settle();
  expect(await world.fired("follow")).toEqual(["s1 started"]);
  expect(await world.fired("broken")).toEqual([expect.stringMatching(/^s1 waiting .+/)]);
});

test("an input from a property of the ended execution must have its type", async () => {
  const about = (value: About): Inputs => ({ x: { source: { case: "about", value } } });
  // The only input of the launch plan is an integer.
  await expect(make("name", { inputs: about(About.EXECUTION_NAME) })).rejects.toMatchObject({
    code: Code.INVALID_ARGUMENT,
    message: "invalid value for inputs.x: it must be a string to be given EXECUTION_NAME",
  });
  await expect(make("time", { inputs: about(About.TIME) })).rejects.toMatchObject({
    message: expect.stringContaining("a datetime") as unknown,
  });
  await expect(make("delivery", { inputs: about(About.DELIVERY_ID) })).rejects.toMatchObject({
    message: expect.stringContaining("not available") as unknown,
  });
});

test.each<[string, Init, Code, string]>([
  ["no name", { id: { ...scope, name: "" } }, Code.INVALID_ARGUMENT, "id.name"],
  ["an invalid name", { id: { ...scope, name: "A_b" } }, Code.INVALID_ARGUMENT, "id.name"],
  ["an unknown project", { id: { ...scope, project: "nowhere", name: "a" } }, Code.INVALID_ARGUMENT, "project"],
  ["no launch plan", { launchPlan: undefined }, Code.INVALID_ARGUMENT, "launch_plan"],
  ["a launch plan without an active version", { launchPlan: launch("sleeping") }, Code.INVALID_ARGUMENT, "no active version"],
  ["an unknown version", { launchPlan: { ...launch("target"), version: "v9" } }, Code.NOT_FOUND, "v9"],
  [
    "a workflow in place of a launch plan",
    { launchPlan: { ...launch("target"), resourceType: ResourceType.WORKFLOW } },
    Code.INVALID_ARGUMENT,
    "must name a launch plan",
  ],
  ["no source", { source: { case: undefined } }, Code.INVALID_ARGUMENT, "missing source"],
  [
    "a phase that is not terminal",
    { source: { case: "execution", value: { phases: [RUNNING] } } },
    Code.INVALID_ARGUMENT,
    "RUNNING is not a terminal phase",
  ],
  ["a missing input", { inputs: {} }, Code.INVALID_ARGUMENT, "missing inputs.x"],
  ["an undeclared input", { inputs: { ...one, y: one?.x as never } }, Code.INVALID_ARGUMENT, "inputs.y"],
  ["a fixed input", { launchPlan: launch("fixed") }, Code.INVALID_ARGUMENT, "fixes it"],
  [
    "a literal of another type",
    { inputs: { x: { source: { case: "literal", value: stringLiteral("a") } } } },
    Code.INVALID_ARGUMENT,
    "another type",
  ],
  ["an input without a source", { inputs: { x: {} } }, Code.INVALID_ARGUMENT, "set output, body, literal or about"],
  [
    "a webhook body for an execution trigger",
    { inputs: { x: { source: { case: "body", value: "/a" } } } },
    Code.INVALID_ARGUMENT,
    "no body",
  ],
  ["a path without an output name", { inputs: fromOutput("//a") }, Code.INVALID_ARGUMENT, "the name of an output is missing"],
  [
    "outputs of failed executions",
    { inputs: fromOutput("o0"), source: { case: "execution", value: { phases: [SUCCEEDED, FAILED] } } },
    Code.INVALID_ARGUMENT,
    "only executions that SUCCEEDED have outputs",
  ],
])("a trigger is refused: %s", async (_, changes, code, message) => {
  await expect(make("bad", changes)).rejects.toMatchObject({ code, message: expect.stringContaining(message) as unknown });
});

test("triggers are created, read, updated, listed and deleted", async () => {
  const made = (await make("b", { description: "D" })).trigger;
  expect(made).toMatchObject({ id: { name: "b" }, description: "D", state: TriggerState.ACTIVE, owner: "", webhookPath: "" });
  expect(made?.launchPlan).toMatchObject({ ...scope, name: "target", version: "" });
  expect(made?.source).toMatchObject({ case: "execution", value: { ...scope, launchPlan: "source", phases: [SUCCEEDED] } });
  await expect(make("b")).rejects.toMatchObject({ code: Code.ALREADY_EXISTS });
  await make("a");
  await make("c");
  const first = await world.triggers.listTriggers({ ...scope, limit: 2 });
  const second = await world.triggers.listTriggers({ ...scope, limit: 2, token: first.token });
  expect([...first.triggers, ...second.triggers].map((each) => each.id?.name)).toEqual(["a", "b", "c"]);
  expect(second.token).toBe("");
  await world.triggers.updateTrigger({
    trigger: trigger("b", { source: { case: "execution", value: { workflow: "w", phases: [FAILED] } } }),
  });
  const shown = await world.triggers.getTrigger({ id: { ...scope, name: "b" } });
  expect(shown.source.value).toMatchObject({ launchPlan: "", workflow: "w", phases: [FAILED] });
  await world.run("source", "s1");
  await world.end("s1", FAILED);
  await world.settle();
  expect(await world.fired("b")).toEqual(["s1 started"]);
  await world.triggers.deleteTrigger({ id: { ...scope, name: "b" } });
  for (const missing of [
    () => world.triggers.getTrigger({ id: { ...scope, name: "b" } }),
    () => world.triggers.deleteTrigger({ id: { ...scope, name: "b" } }),
    () => world.triggers.updateTrigger({ trigger: trigger("b") }),
    () => world.triggers.setTriggerState({ id: { ...scope, name: "b" }, state: TriggerState.PAUSED }),
  ]) {
    await expect(missing()).rejects.toMatchObject({ code: Code.NOT_FOUND });
  }
  await expect(world.triggers.rotateTriggerSecret({ id: { ...scope, name: "a" } })).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
  // REST returns the trigger as well.
  const answer = await fetch(`http://127.0.0.1:${world.served.port}/api/v1/triggers/${scope.project}/${scope.domain}/a`);
  expect(await answer.json()).toMatchObject({ id: { name: "a" }, state: "TRIGGER_STATE_ACTIVE", execution: { launchPlan: "source" } });
});

test("a firing is refused when the owner has lost the required role", async () => {
  await make("follow");
  await world.database.db.query({ text: "UPDATE triggers SET owner = 'ann', owner_issuer = 'i', owner_groups = '{team}'" });
  const fire = async (name: string, bindings: object[]) => {
    await world.run("source", name);
    await world.end(name, SUCCEEDED);
    await world.settle({ bindings: async () => bindings as never });
    return (await world.fired()).at(-1);
  };
  const role = (holder: object, given: string) => ({ issuer: "i", ...holder, role: given, ...scope });
  expect(await fire("s1", [role({ kind: "subject", name: "ann" }, "runner")])).toBe("s1 started");
  expect(await fire("s2", [role({ kind: "group", name: "team" }, "contributor")])).toBe("s2 started");
  expect(await fire("s3", [role({ kind: "subject", name: "ann" }, "viewer")])).toBe(
    's3 refused the trigger fires as "ann": role runner is needed in project "flytesnacks", domain "development"',
  );
  expect(await fire("s4", [role({ kind: "subject", name: "ann", issuer: "another" }, "admin")])).toContain("s4 refused");
  expect((await world.started()).map(({ principal }) => principal)).toEqual(["ann", "ann"]);
});

test("output paths select map keys and list indexes, and other paths are refused", () => {
  const outputs = create(LiteralMapSchema, literalMap([["o", structLiteral({ list: [{ "a/b": 1 }], "7": "seven" })]]));
  const found = (path: string) =>
    JSON.stringify(atOutput(outputs, path).value, (_, each: unknown) => (typeof each === "bigint" ? String(each) : each));
  expect(found("/o/list/0/a~1b")).toContain('"floatValue","value":1');
  expect(found("/o/7")).toContain("seven");
  expect(found("/o")).toBe(found("o"));
  for (const path of ["/o/list/1", "/o/list/x", "/o/no", "/p", "", "/o/7/x"])
    expect(() => atOutput(outputs, path)).toThrow("there is no|missing".split("|")[path === "" ? 1 : 0]);
});
