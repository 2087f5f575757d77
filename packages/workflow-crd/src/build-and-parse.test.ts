import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { identifierKey } from "@flyte-ts/domain/identifier";
import { WorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { CompiledWorkflowClosureSchema, type CompiledWorkflowClosure } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { IdentifierSchema, ResourceType, WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { NodeSchema, type Node } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { WorkflowBuildError } from "./build/build-error.js";
import type { BuildInput } from "./build/input.js";
import { buildFlyteWorkflow } from "./build/workflow.js";
import { wrapClosure } from "./graph/closure-blob.js";
import { FLYTE_WORKFLOW_CRD } from "./resource/custom-resource-definition.js";
import type { GraphModel, NodeModel, NodeTarget } from "./model/model.js";
import { parseEncodedClosure } from "./graph/closure.js";
import { runToCompletion } from "./graph/run-to-completion.js";
import { WorkflowFormatError } from "./parse/field.js";
import { parseFlyteWorkflow, platformOf, referencesOf } from "./parse/workflow.js";
import { completedTimeLabel, FLYTE_WORKFLOW_RESOURCE, terminatedLabels } from "./resource/resource.js";

const none = { cpu: "", memory: "", ephemeralStorage: "", storage: "", gpu: "" };
const taskId = create(IdentifierSchema, { resourceType: ResourceType.TASK, project: "p", domain: "d", name: "t", version: "v" });
const subId = create(IdentifierSchema, { resourceType: ResourceType.WORKFLOW, project: "p", domain: "d", name: "sub", version: "v" });

const inputOf = (closure: CompiledWorkflowClosure, rest: Partial<BuildInput> = {}): BuildInput => ({
  executionId: create(WorkflowExecutionIdentifierSchema, { project: "p", domain: "d", name: "e" }),
  closure,
  inputs: create(LiteralMapSchema),
  labels: {},
  annotations: {},
  acceptedAt: new Date(0),
  serviceAccountName: "",
  maxParallelism: 0,
  overwriteCache: false,
  environment: [],
  resources: { defaults: none, limits: none },
  taskPluginOverrides: [],
  ...rest,
});

interface Graph {
  readonly nodes: Node[];
  readonly edges: readonly (readonly [from: string, to: string])[];
}

function closureOf(main: Graph, sub: Graph): CompiledWorkflowClosure {
  const lists = (pairs: readonly (readonly [string, string])[]) => {
    const map = new Map<string, { ids: string[] }>();
    for (const [from, to] of pairs) map.set(from, { ids: [...(map.get(from)?.ids ?? []), to] });
    return Object.fromEntries(map);
  };
  const workflow = (id: typeof subId, { nodes, edges }: Graph) => ({
    template: { id, nodes: [create(NodeSchema, { id: "start-node" }), create(NodeSchema, { id: "end-node" }), ...nodes] },
    connections: { downstream: lists(edges), upstream: lists(edges.map(([from, to]) => [to, from] as const)) },
  });
  return create(CompiledWorkflowClosureSchema, {
    primary: workflow({ ...subId, name: "main" }, main),
    subWorkflows: [workflow(subId, sub)],
    tasks: [{ template: create(TaskTemplateSchema, { id: taskId, type: "echo" }) }],
  });
}

const short = fc.string({ unit: "binary", maxLength: 6 }).filter((text) => text.isWellFormed());
const binding = fc.record({
  var: short,
  binding: fc.oneof(
    fc.record({ nodeId: short, var: short }).map((value) => ({ value: { case: "promise" as const, value } })),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((integer) => ({
      value: {
        case: "scalar" as const,
        value: { value: { case: "primitive" as const, value: { value: { case: "integer" as const, value: integer } } } },
      },
    })),
    fc.uint8Array({ maxLength: 4 }).map((value) => ({
      value: { case: "scalar" as const, value: { value: { case: "binary" as const, value: { value, tag: "msgpack" } } } },
    })),
  ),
});
const target = fc.oneof(
  fc.constant({ case: "taskNode" as const, value: { reference: { case: "referenceId" as const, value: taskId } } }),
  fc.constant({ case: "workflowNode" as const, value: { reference: { case: "subWorkflowRef" as const, value: subId } } }),
  short.map((name) => ({
    case: "workflowNode" as const,
    value: { reference: { case: "launchplanRef" as const, value: { ...taskId, resourceType: ResourceType.LAUNCH_PLAN, name } } },
  })),
  short.map((signalId) => ({ case: "gateNode" as const, value: { condition: { case: "approve" as const, value: { signalId } } } })),
  fc.record({ ratio: fc.float({ min: 0, max: 1, noNaN: true }), parallelism: fc.nat(9) }).map(({ ratio, parallelism }) => ({
    case: "arrayNode" as const,
    value: {
      node: { id: "inner", target: { case: "taskNode" as const, value: { reference: { case: "referenceId" as const, value: taskId } } } },
      successCriteria: { case: "minSuccessRatio" as const, value: ratio },
      parallelismOption: { case: "parallelism" as const, value: parallelism },
    },
  })),
);
const node = fc.record({
  inputs: fc.array(binding, { maxLength: 3 }),
  name: short,
  retries: fc.nat(3),
  timeout: fc.option(fc.record({ seconds: fc.bigInt({ min: 0n, max: 10n ** 6n }), nanos: fc.nat(999).map((ms) => ms * 1_000_000) }), {
    nil: undefined,
  }),
  interruptible: fc.option(fc.boolean(), { nil: undefined }),
  aliases: fc.array(fc.record({ var: short, alias: short }), { maxLength: 2 }),
  target,
});
const id = fc
  .oneof(fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/), short, fc.constantFrom("constructor", "0", ""))
  .filter((text) => !text.endsWith("-node"));
const graph: fc.Arbitrary<Graph> = fc.uniqueArray(id, { minLength: 1, maxLength: 8 }).chain((ids) =>
  fc
    .record({
      nodes: fc.array(node, { minLength: ids.length, maxLength: ids.length }),
      edges: fc.array(fc.tuple(fc.constantFrom("start-node", ...ids), fc.constantFrom("end-node", ...ids)), { maxLength: 12 }),
    })
    .map(({ nodes, edges }) => ({
      nodes: nodes.map((each, index) =>
        create(NodeSchema, {
          id: ids[index] ?? "",
          inputs: each.inputs,
          outputAliases: each.aliases,
          metadata: {
            name: each.name,
            retries: { retries: each.retries },
            ...(each.timeout === undefined ? {} : { timeout: each.timeout }),
            ...(each.interruptible === undefined
              ? {}
              : { interruptibleValue: { case: "interruptible" as const, value: each.interruptible } }),
          },
          target: each.target,
        }),
      ),
      edges: [["start-node", ids[0] ?? ""] as const, ...edges],
    })),
);

function expectedTarget({ target: of, id: name }: Node): NodeTarget | Partial<NodeTarget> {
  switch (of.case) {
    case "taskNode":
      return { kind: "task", task: identifierKey(taskId) };
    case "workflowNode":
      return of.value.reference.case === "launchplanRef"
        ? { kind: "launchPlan", launchPlan: of.value.reference.value }
        : { kind: "subWorkflow", workflow: identifierKey(subId) };
    case "gateNode":
      return { kind: "gate", gate: of.value };
    case "arrayNode": {
      const { node: _inner, ...array } = of.value;
      return { kind: "array", array };
    }
    default:
      return { kind: name === "start-node" ? "start" : "end" };
  }
}

function expectGraph(model: GraphModel | undefined, { nodes, edges }: Graph): void {
  expect(new Set(model?.nodes.keys())).toEqual(new Set(["start-node", "end-node", ...nodes.map((each) => each.id)]));
  for (const each of nodes) {
    const timeout = each.metadata?.timeout;
    const ms = timeout === undefined ? 0 : Number(timeout.seconds) * 1000 + timeout.nanos / 1e6;
    const interruptible = each.metadata?.interruptibleValue;
    const found = model?.nodes.get(each.id) as NodeModel;
    expect(found).toMatchObject({
      id: each.id,
      name: each.metadata?.name ?? "",
      target: expectedTarget(each),
      inputBindings: each.inputs,
      maxAttempts: each.metadata?.retries?.retries ? each.metadata.retries.retries + 1 : undefined,
      interruptible: interruptible?.case === "interruptible" ? interruptible.value : undefined,
      outputAliases: each.outputAliases.map((alias) => ({ variable: alias.var, alias: alias.alias })),
    });
    expect(found.executionDeadlineMs ?? 0).toBeCloseTo(ms, 6);
    expect(found.activeDeadlineMs ?? 0).toBeCloseTo(2 * ms, 6);
  }
  const pairs = [...(model?.downstream ?? [])].flatMap(([from, list]) => list.map((to) => `${from}\n${to}`));
  const back = [...(model?.upstream ?? [])].flatMap(([to, list]) => list.map((from) => `${from}\n${to}`));
  expect(pairs.toSorted()).toEqual(edges.map(([from, to]) => `${from}\n${to}`).toSorted());
  expect(back.toSorted()).toEqual(pairs.toSorted());
}

test("parsing the JSON of a built resource returns the graph, for any graph", () => {
  fc.assert(
    fc.property(graph, graph, (main, sub) => {
      const json: unknown = JSON.parse(JSON.stringify(buildFlyteWorkflow(inputOf(closureOf(main, sub)))));
      const { model } = parseFlyteWorkflow(json);
      expect(model.tasks.get(identifierKey(taskId))?.type).toBe("echo");
      expectGraph(model.root, main);
      expectGraph(model.subWorkflows.get(identifierKey(subId)), sub);
    }),
    { numRuns: 150 },
  );
});

const simple: Graph = {
  nodes: [create(NodeSchema, { id: "n0", target: { case: "taskNode", value: { reference: { case: "referenceId", value: taskId } } } })],
  edges: [
    ["start-node", "n0"],
    ["n0", "end-node"],
  ],
};
const plain = () => JSON.parse(JSON.stringify(buildFlyteWorkflow(inputOf(closureOf(simple, simple))))) as Record<string, unknown>;

/** The resource with one value replaced or, for undefined, removed. */
function edited(path: readonly string[], value: unknown): unknown {
  const json = plain();
  let at = json;
  for (const key of path.slice(0, -1)) at = (at[key] ??= {}) as Record<string, unknown>;
  at[path.at(-1) ?? ""] = value;
  return JSON.parse(JSON.stringify(json));
}

test.each([
  [["metadata"], undefined, "metadata: must be an object, is absent"],
  [["metadata", "name"], 5, "metadata.name: must be a string, is 5"],
  [["spec"], undefined, "spec: must be an object, is absent"],
  [["spec", "nodes", "n0", "kind"], "magic", 'spec.nodes.n0.kind: must be task, branch, workflow, gate, array, start or end, is "magic"'],
  [["spec", "nodes", "n0", "task"], "nothing", "spec.nodes.n0.task: there is no task nothing"],
  [["spec", "nodes", "n0", "id"], "n1", 'spec.nodes.n0.id: must be "n0", the key of the node, is "n1"'],
  [["spec", "nodes", "n0", "retry"], { minAttempts: -1 }, "spec.nodes.n0.retry.minAttempts: must be a whole number of at least 0, is -1"],
  [["spec", "nodes", "n0", "executionDeadline"], "soon", 'spec.nodes.n0.executionDeadline: must be a duration such as 1h2m3.5s, is "soon"'],
  [["spec", "nodes", "n0", "inputBindings"], [{ var: 7 }], "spec.nodes.n0.inputBindings.0: is no flyteidl.core.Binding:"],
  [["spec", "nodes", "a b"], 1, 'spec.nodes["a b"]: must be an object'],
  [["spec", "edges", "downstream", "n0"], ["ghost"], 'spec.edges.downstream.n0.0: there is no node "ghost"'],
  [["spec", "edges", "upstream", "ghost"], [], "spec.edges.upstream.ghost: there is no such node"],
  [["spec", "onFailurePolicy"], "SHRUG", "spec.onFailurePolicy: must be"],
  [["tasks"], [], "tasks: must be an object, is []"],
  [["executionConfig", "MaxParallelism"], "many", 'executionConfig.MaxParallelism: must be a whole number of at least 0, is "many"'],
  [["acceptedAt"], "yesterday", "acceptedAt: must be an RFC 3339 time"],
  [
    ["status", "nodeStatus"],
    { n0: { phase: "Running" } },
    'status.nodeStatus.n0.phase: must be a whole number of at least 0, is "Running"',
  ],
  [
    ["status", "nodeStatus"],
    { n0: { subNodeStatus: { x: { queuedAt: "?" } } } },
    "status.nodeStatus.n0.subNodeStatus.x.queuedAt: must be an RFC 3339 time",
  ],
  [["inputs"], { literals: 3 }, "inputs: is no flyteidl.core.LiteralMap:"],
  [["workflowClosureReference"], "s3://b/closure", "workflowClosureReference: the closure is in the blob store and was not fetched"],
  [["offloadedInputs"], "s3://b/inputs", "offloadedInputs: the inputs are in the blob store and were not fetched"],
] as const)("%j as %j is rejected with its path", (path, value, message) => {
  const json = edited(path, value);
  expect(() => parseFlyteWorkflow(json)).toThrow(WorkflowFormatError);
  expect(() => parseFlyteWorkflow(json)).toThrow(message);
});

test("any JSON parses or is rejected with a path", () => {
  const refusal = (json: unknown): unknown => {
    try {
      return parseFlyteWorkflow(json) && undefined;
    } catch (error) {
      return error instanceof WorkflowFormatError ? undefined : error;
    }
  };
  const paths = fc.constantFrom(
    "metadata",
    "spec",
    "status",
    "tasks",
    "inputs",
    "executionConfig",
    "securityContext",
    "node-defaults",
    "executionId",
  );
  fc.assert(
    fc.property(fc.jsonValue(), (json) => {
      expect(refusal(json)).toBeUndefined();
    }),
  );
  fc.assert(
    fc.property(paths, fc.jsonValue(), (path, json) => {
      expect(refusal(edited([path], json))).toBeUndefined();
    }),
  );
});

test("unknown fields are ignored, and those of the status are kept", () => {
  const json = edited(["spec", "nodes", "n0", "hostname"], "h");
  Object.assign(json as object, {
    activeDeadlineSeconds: 5,
    status: { phase: 1, later: { a: 1 }, nodeStatus: { n0: { dynamicNodeStatus: {} } } },
  });
  const parsed = parseFlyteWorkflow(json);
  expect(parsed.model.root.nodes.get("n0")?.target.kind).toBe("task");
  expect(parsed.status).toEqual({ phase: 1, later: { a: 1 }, nodeStatus: { n0: { phase: 0, dynamicNodeStatus: {} } } });
});

test("changing the parsed status does not change the JSON", () => {
  const json = edited(["status"], { phase: 1, nodeStatus: { n0: {} } }) as { status: unknown };
  const { status } = parseFlyteWorkflow(json);
  status.nodeStatus = { ...status.nodeStatus, n0: { phase: 5 } };
  status.phase = 3;
  expect(json.status).toEqual({ phase: 1, nodeStatus: { n0: {} } });
});

test("edges are read from the connections of old resources", () => {
  const json = edited(["spec", "edges"], undefined);
  const { root } = parseFlyteWorkflow(json).model;
  expect(root.upstream.get("end-node")).toEqual(["n0"]);
  expect(root.downstream.get("start-node")).toEqual(["n0"]);
});

test("the metadata of a deleted resource is parsed", () => {
  const parsed = parseFlyteWorkflow(
    edited(["metadata"], {
      name: "e",
      namespace: "p-d",
      uid: "u",
      resourceVersion: "12",
      deletionTimestamp: "2024-01-01T00:00:00Z",
      finalizers: ["x"],
    }),
  );
  expect(parsed).toMatchObject({ resourceVersion: "12", deletionRequested: true, finalizers: ["x"], model: { uid: "u", labels: {} } });
});

test("identity labels are replaced by those of the resource's own execution", () => {
  const theirs = { "execution-id": "parent", project: "mine", domain: "theirs", "workflow-name": "launcher", team: "x", "shard-key": "3" };
  const { model } = parseFlyteWorkflow(edited(["metadata"], { name: "e", namespace: "p-d", labels: theirs }));
  expect(model.labels).toEqual({
    "execution-id": "e",
    project: "p",
    domain: "d",
    "workflow-name": "main",
    team: "x",
    "shard-key": "3",
  });
});

test("parsing a large closure yields between its parts", () => {
  const closure = closureOf(simple, simple);
  const nodes = closure.primary?.template?.nodes ?? [];
  const task = nodes.find(({ target }) => target.case === "taskNode") as Node;
  for (let index = 0; index < 2_500; index++) nodes.push({ ...task, id: `more-${index}` });
  const parts = parseEncodedClosure(toBinary(CompiledWorkflowClosureSchema, closure), platformOf(plain()));
  let turns = 0;
  let part = parts.next();
  for (; part.done !== true; part = parts.next()) turns++;
  expect(turns).toBe(2);
  expect(part.value.root.nodes.size).toBe(nodes.length);
});

test("a closure blob is read in the form of Go FlyteAdmin and without wrapper", () => {
  const closure = closureOf(simple, simple);
  const graphsOf = (blob: Uint8Array) => runToCompletion(parseEncodedClosure(blob, platformOf(plain())));
  const bare = toBinary(CompiledWorkflowClosureSchema, closure);
  const written = toBinary(
    WorkflowClosureSchema,
    create(WorkflowClosureSchema, { compiledWorkflow: closure, createdAt: timestampFromDate(new Date(1)) }),
  );
  const expected = graphsOf(bare);
  expectGraph(expected.root, simple);
  for (const blob of [written, wrapClosure(bare)]) expect(graphsOf(blob)).toEqual(expected);
  const halves = [{ primary: closure.primary }, { subWorkflows: closure.subWorkflows, tasks: closure.tasks }];
  const merged = halves.map((half) => wrapClosure(toBinary(CompiledWorkflowClosureSchema, create(CompiledWorkflowClosureSchema, half))));
  expect(graphsOf(Buffer.concat(merged))).toEqual(expected);
  expect(() => graphsOf(written.subarray(0, 40))).toThrow(WorkflowFormatError);
});

test("closure and inputs by reference are omitted from the resource and restored from the fetched blobs", () => {
  const closure = closureOf(simple, simple);
  const inputs = create(LiteralMapSchema, {
    literals: { a: { value: { case: "scalar", value: { value: { case: "noneType", value: {} } } } } },
  });
  const json: unknown = JSON.parse(
    JSON.stringify(buildFlyteWorkflow(inputOf(closure, { inputs, closureReference: "s3://b/c", inputsReference: "s3://b/i" }))),
  );
  expect(json).toMatchObject({ spec: null, tasks: null, workflowClosureReference: "s3://b/c", offloadedInputs: "s3://b/i" });
  expect(json).not.toHaveProperty("inputs");
  expect(referencesOf(json)).toEqual({ closure: "s3://b/c", inputs: "s3://b/i", slices: [] });
  expect(referencesOf(plain())).toEqual({ closure: undefined, inputs: undefined, slices: [] });
  const bytes = toBinary(CompiledWorkflowClosureSchema, closure);
  const graphsOf = (encoded: Uint8Array) => runToCompletion(parseEncodedClosure(encoded, platformOf(json)));
  const { model } = parseFlyteWorkflow(json, { graphs: graphsOf(bytes), inputs });
  expectGraph(model.root, simple);
  expect(model.inputs).toBe(inputs);
  expect(() => parseFlyteWorkflow(json, { inputs })).toThrow(
    "workflowClosureReference: the closure is in the blob store and was not fetched",
  );
  expect(() => graphsOf(bytes.subarray(0, bytes.length - 1))).toThrow(WorkflowFormatError);
});

test("default limits are written only if they are set, and are parsed again", () => {
  const built = (resources: BuildInput["resources"]): unknown =>
    JSON.parse(JSON.stringify(buildFlyteWorkflow(inputOf(closureOf(simple, simple), { resources }))));
  expect(built({ defaults: none, limits: none })).not.toHaveProperty("executionConfig.TaskResources.DefaultLimits");
  const json = built({ defaults: none, defaultLimits: { ...none, cpu: "2" }, limits: none });
  expect(json).toHaveProperty("executionConfig.TaskResources.DefaultLimits.CPU", "2");
  expect(platformOf(json).defaultLimits).toMatchObject({ cpu: "2", memory: "0" });
});

test("system labels override labels of users, also those of terminated executions", () => {
  const { metadata } = buildFlyteWorkflow(
    inputOf(closureOf(simple, simple), { labels: { project: "mine", team: "x", "termination-status": "terminated" } }),
  );
  expect(metadata.labels).toEqual({
    team: "x",
    "execution-id": "e",
    project: "p",
    domain: "d",
    "workflow-name": "main",
    "shard-key": expect.stringMatching(/^\d+$/),
  });
  expect(metadata).not.toHaveProperty("annotations");
});

test.each([
  ["a closure without a workflow", create(CompiledWorkflowClosureSchema), "closure: contains no primary workflow"],
  ["a missing task", { ...closureOf(simple, simple), tasks: [] }, "node n0: the closure contains no task"],
  ["a graph without a start", closureOf({ ...simple, edges: [] }, simple), "p:d:main: no node follows the start node"],
  ["a node without a target", closureOf({ ...simple, nodes: [create(NodeSchema, { id: "n0" })] }, simple), "node n0: has no target"],
])("%s is refused", (_name, closure, message) => {
  expect(() => buildFlyteWorkflow(inputOf(closure))).toThrow(WorkflowBuildError);
  expect(() => buildFlyteWorkflow(inputOf(closure))).toThrow(message);
});

test("the custom resource definition has the API path of the resource", () => {
  expect(FLYTE_WORKFLOW_CRD.metadata.name).toBe(`${FLYTE_WORKFLOW_RESOURCE.plural}.${FLYTE_WORKFLOW_RESOURCE.group}`);
  expect(FLYTE_WORKFLOW_CRD.spec.versions.map((version) => version.name)).toEqual([FLYTE_WORKFLOW_RESOURCE.version]);
});

test("labels of terminated executions have the hour in UTC", () => {
  expect(completedTimeLabel(new Date("2024-02-03T23:59:59-02:00"))).toBe("2024-02-04.01");
  expect(terminatedLabels(new Date(0))).toEqual({ "termination-status": "terminated", "completed-time": "1970-01-01.00" });
});
