import { readFileSync } from "node:fs";
import { create, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { goDuration, parseGoDuration } from "@flyte-ts/domain/duration";
import { canonicalQuantity, isZeroQuantity } from "@flyte-ts/domain/quantity";
import { PluginOverride_MissingPluginBehavior, PluginOverrideSchema } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import { RawOutputDataConfigSchema } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { KeyValuePairSchema, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { Secret_MountType, SecurityContextSchema } from "@flyte-ts/idl/flyteidl/core/security_pb";
import { Resources_ResourceName, TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { expect, test } from "vitest";
import type { BuildInput } from "./build/input.js";
import { applyPlatformResources } from "./build/task-resources.js";
import { buildFlyteWorkflow } from "./build/workflow.js";
import type { BranchModel } from "./model/model.js";
import type { FlyteWorkflowResource } from "./resource/resource.js";
import { parseFlyteWorkflow } from "./parse/workflow.js";

interface Texts {
  quantities: { text: string; canonical?: string; zero?: boolean }[];
  durations: { nanoseconds: string; text: string }[];
  resources: {
    request: string;
    limit: string;
    platformDefault: string;
    platformLimit: string;
    result: { request: string; limit: string };
  }[];
}
const read = (name: string): unknown => JSON.parse(readFileSync(new URL(`../testdata/${name}`, import.meta.url), "utf8"));
const texts = read("texts.json") as Texts;
const expected = (read("resource.json") as { resource: FlyteWorkflowResource }).resource;
const closure = fromJson(CompiledWorkflowClosureSchema, read("closure.json") as JsonValue);

const input: BuildInput = {
  executionId: create(WorkflowExecutionIdentifierSchema, { project: "demo", domain: "test", name: "avectorexecution0001" }),
  closure,
  inputs: fromJson(LiteralMapSchema, {
    literals: {
      a: { scalar: { primitive: { integer: "9007199254740993" } } },
      list: { collection: { literals: [{ scalar: { primitive: { integer: "1" } } }] } },
    },
  }),
  labels: { team: "blue" },
  annotations: { note: "n1" },
  acceptedAt: new Date("2024-02-03T04:05:06.789Z"),
  serviceAccountName: "",
  securityContext: create(SecurityContextSchema, {
    runAs: {
      k8sServiceAccount: "robot",
      executionIdentity: "me",
      oauth2Client: { clientId: "cid", clientSecret: { group: "g", key: "k", mountRequirement: Secret_MountType.FILE } },
    },
    secrets: [{ group: "gg", groupVersion: "2", key: "kk", mountRequirement: Secret_MountType.ENV_VAR, envVar: "X" }, { key: "any" }],
    tokens: [{ name: "t", client: { clientId: "z" }, tokenEndpoint: "http://t" }],
  }),
  rawOutputDataConfig: create(RawOutputDataConfigSchema, { outputLocationPrefix: "s3://raw/x" }),
  maxParallelism: 12,
  interruptible: false,
  overwriteCache: true,
  environment: [create(KeyValuePairSchema, { key: "A", value: "1" }), create(KeyValuePairSchema, { key: "B" })],
  resources: {
    defaults: { cpu: "0.5", memory: "512Mi", ephemeralStorage: "", storage: "", gpu: "" },
    limits: { cpu: "8000m", memory: "2048Mi", ephemeralStorage: "10G", storage: "", gpu: "1" },
  },
  taskPluginOverrides: [
    create(PluginOverrideSchema, {
      taskType: "python-task",
      pluginId: ["p1", "p2"],
      missingPluginBehavior: PluginOverride_MissingPluginBehavior.USE_DEFAULT,
    }),
    create(PluginOverrideSchema, { taskType: "sql", pluginId: ["p3"] }),
  ],
  recoveryExecution: create(WorkflowExecutionIdentifierSchema, { project: "demo", domain: "test", name: "older" }),
  consoleUrl: "http://console",
};

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test("a resource with every kind of node equals the one that Go Flyte builds", () => {
  expect(asJson(buildFlyteWorkflow(input))).toEqual(expected);
});

test("building does not change the closure", () => {
  const before = fromJson(CompiledWorkflowClosureSchema, read("closure.json") as JsonValue);
  buildFlyteWorkflow(input);
  expect(closure).toEqual(before);
});

test("a resource of Go Flyte parses, also with spaces in its keys", () => {
  const { model, status, ...rest } = parseFlyteWorkflow(expected);
  const spaced = parseFlyteWorkflow(JSON.parse(JSON.stringify(expected).replace(/" {2}(?=\w+:\\")/g, '" ')));
  expect([...spaced.model.root.nodes.keys()]).toEqual([...model.root.nodes.keys()]);
  expect(rest).toEqual({ resourceVersion: "", deletionRequested: false, hasManagedFields: false, finalizers: ["flyte.org/finalizer"] });
  expect(status).toEqual({ phase: 0 });
  expect(model).toMatchObject({
    key: "demo-test/avectorexecution0001",
    executionId: input.executionId,
    workflowId: { project: "demo", domain: "test", name: "pkg.Main-WF_x" },
    inputs: input.inputs,
    acceptedAt: new Date("2024-02-03T04:05:06Z"),
    options: {
      maxParallelism: 12,
      interruptible: false,
      defaultInterruptible: true,
      overwriteCache: true,
      environment: input.environment,
      securityContext: input.securityContext,
      serviceAccountName: "robot",
      rawOutputPrefix: "s3://raw/x",
      consoleUrl: "http://console",
      recoveryExecution: input.recoveryExecution,
      resources: { defaults: { cpu: "500m", memory: "512Mi", ephemeralStorage: "0", storage: "0", gpu: "0" }, defaultLimits: undefined },
    },
  });
  expect(model.options.taskPlugins).toEqual(
    new Map([
      ["python-task", { pluginIds: ["p1", "p2"], useDefaultWhenMissing: true }],
      ["sql", { pluginIds: ["p3"], useDefaultWhenMissing: false }],
    ]),
  );
});

test("each kind of node of a resource of Go Flyte is parsed", () => {
  const { root, subWorkflows, tasks } = parseFlyteWorkflow(expected).model;
  const node = (id: string) => root.nodes.get(id);
  const nodeOf = (id: string) => closure.primary?.template?.nodes.find((each) => each.id === id);
  expect(node("n0")).toMatchObject({
    name: "plain",
    maxAttempts: 3,
    executionDeadlineMs: 90_500,
    activeDeadlineMs: 181_000,
    interruptible: false,
    containerImage: "other:2",
    inputBindings: nodeOf("n0")?.inputs,
    resources: {
      limits: [
        { name: Resources_ResourceName.CPU, value: "1500m" },
        { name: Resources_ResourceName.EPHEMERAL_STORAGE, value: "512Mi" },
        { name: Resources_ResourceName.GPU, value: "2" },
      ],
    },
  });
  const overrides = nodeOf("n0")?.target.case === "taskNode" ? nodeOf("n0")?.target.value : undefined;
  expect(overrides).toMatchObject({
    overrides: { podTemplate: node("n0")?.podTemplate, extendedResources: node("n0")?.extendedResources },
  });
  expect(node("n1")).toMatchObject({
    maxAttempts: 5,
    executionDeadlineMs: undefined,
    activeDeadlineMs: undefined,
    interruptible: undefined,
  });
  expect(node("n2")?.outputAliases).toEqual([{ variable: "o0", alias: "renamed" }]);
  const sub = node("n2")?.target as { kind: "subWorkflow"; workflow: string };
  expect(subWorkflows.get(sub.workflow)?.id).toBe("demo:test:pkg.sub");
  const choice = node("n3")?.target as { branch: BranchModel };
  expect(choice.branch.arms.map((arm) => arm.then)).toEqual(["n3-a", "n3-inner", "n3-c"]);
  expect(choice.branch.otherwise).toBe("n3-else");
  expect(node("n3-inner")?.target).toMatchObject({
    branch: { otherwise: undefined, otherwiseError: { failedNodeId: "n3-inner", message: "nothing matched" } },
  });
  expect(node("n4")?.target).toMatchObject({ kind: "launchPlan", launchPlan: { name: "pkg.lp", version: "v9" } });
  for (const id of ["n5", "n6", "n7"]) expect(node(id)?.target).toMatchObject({ kind: "gate", gate: nodeOf(id)?.target.value });
  expect(node("n8")?.target).toMatchObject({
    array: { parallelismOption: { value: 4 }, successCriteria: { value: Math.fround(0.9) }, boundInputs: ["b", "c"] },
    subNode: { id: "n8-sub", maxAttempts: 4, interruptible: true },
  });
  expect(node("n9")?.target).toMatchObject({
    array: { parallelismOption: { case: "parallelism", value: 0 }, successCriteria: { case: "minSuccesses", value: 2 } },
  });
  expect(root.onFailure).toMatchObject({ id: "fn0", maxAttempts: 2 });
  expect(root.onFailurePolicy).toBe("FAIL_AFTER_EXECUTABLE_NODES_COMPLETE");
  expect(root.upstream.get("n9")).toEqual(["n8"]);
  expect(tasks.size).toBe(5);
});

test.each(texts.quantities.filter((quantity) => quantity.canonical === undefined))("no quantity: $text", ({ text }) => {
  expect(() => canonicalQuantity(text)).toThrow(RangeError);
});

test.each(texts.quantities.filter((quantity) => quantity.canonical !== undefined))("quantity $text", ({ text, canonical, zero }) => {
  expect(canonicalQuantity(text)).toBe(canonical);
  expect(isZeroQuantity(text)).toBe(zero);
});

test.each(texts.durations)("duration $text", ({ nanoseconds, text }) => {
  expect(goDuration(BigInt(nanoseconds))).toBe(text);
  expect(Number(parseGoDuration(text)) / 1e6).toBeCloseTo(Number(nanoseconds) / 1e6, 6);
});

test.each([
  { asked: "", limited: "", request: "500m", limit: "2" },
  { asked: "3", limited: "", request: "3", limit: "3" },
  { asked: "", limited: "250m", request: "250m", limit: "250m" },
])("default limits: requested $asked, at most $limited", ({ asked, limited, request, limit }) => {
  const none = { cpu: "", memory: "", ephemeralStorage: "", storage: "", gpu: "" };
  const entry = (value: string) => (value === "" ? [] : [{ name: Resources_ResourceName.CPU, value }]);
  const template = create(TaskTemplateSchema, {
    target: { case: "container", value: { resources: { requests: entry(asked), limits: entry(limited) } } },
  });
  const platform = { defaults: { ...none, cpu: "500m" }, defaultLimits: { ...none, cpu: "2" }, limits: none };
  expect(applyPlatformResources(template, platform).target.value).toMatchObject({
    resources: { requests: [{ value: request }, { value: "0" }], limits: [{ value: limit }, { value: "0" }] },
  });
});

test.each(texts.resources)("resources $request/$limit under $platformDefault/$platformLimit", (v) => {
  const none = { cpu: "", memory: "", ephemeralStorage: "", storage: "", gpu: "" };
  const entry = (value: string) => (value === "" ? [] : [{ name: Resources_ResourceName.CPU, value }]);
  const template = create(TaskTemplateSchema, {
    target: { case: "container", value: { resources: { requests: entry(v.request), limits: entry(v.limit) } } },
  });
  const result = applyPlatformResources(template, {
    defaults: { ...none, cpu: v.platformDefault },
    limits: { ...none, cpu: v.platformLimit },
  });
  expect(result.target.value).toMatchObject({
    resources: {
      requests: [
        { name: Resources_ResourceName.CPU, value: v.result.request },
        { name: Resources_ResourceName.MEMORY, value: "0" },
      ],
      limits: [{ value: v.result.limit }, { value: "0" }],
    },
  });
});
