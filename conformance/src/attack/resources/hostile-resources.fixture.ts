import { shardOf } from "@flyte-ts/domain/name";

/** A FlyteWorkflow as JSON. */
export type ResourceJson = Record<string, unknown>;

/** A resource that admin never writes. */
export interface HostileResource {
  readonly description: string;
  readonly resource: ResourceJson;
  /**
   * `fails`: propeller must refuse it and report the reason. `ends`: propeller may run or refuse
   * it.
   */
  readonly outcome: "fails" | "ends";
}

/** Facts about the stack and the victim that the resources refer to. */
export interface ResourceContext {
  /** Address of an HTTP server that must receive no request. */
  readonly listener: string;
  /** An execution of another project. */
  readonly victim: { readonly project: string; readonly domain: string; readonly name: string };
}

type Change = (resource: ResourceJson, name: string) => void;

/** Copies a resource under another name, with a change. */
function variant(base: ResourceJson, name: string, change: Change): ResourceJson {
  const copy = structuredClone(base);
  const { labels, namespace, finalizers } = copy["metadata"] as ResourceJson;
  copy["metadata"] = {
    name,
    namespace,
    finalizers,
    labels: { ...(labels as ResourceJson), "execution-id": name, "shard-key": String(shardOf(name)) },
  };
  copy["executionId"] = { ...(copy["executionId"] as ResourceJson), name };
  copy["status"] = { phase: 0 };
  at(copy, ["inputs", "literals", "duration", "scalar", "primitive"])["duration"] = "0s";
  change(copy, name);
  return copy;
}

function at(resource: ResourceJson, path: readonly string[]): ResourceJson {
  return path.reduce((value, key) => value[key] as ResourceJson, resource);
}

const spec =
  (change: (graph: ResourceJson) => void): Change =>
  (resource) =>
    change(resource["spec"] as ResourceJson);
const node =
  (fields: ResourceJson): Change =>
  (resource) =>
    void Object.assign(at(resource, ["spec", "nodes", "n1"]), fields);
const config =
  (fields: ResourceJson): Change =>
  (resource) =>
    void Object.assign(resource["executionConfig"] as ResourceJson, fields);
const status =
  (fields: ResourceJson): Change =>
  (resource) =>
    void Object.assign(resource["status"] as ResourceJson, fields);

/** A node that runs a sub-workflow. */
const subWorkflowNode = (id: string, workflow: string) => ({
  id,
  name: id,
  resources: {},
  kind: "workflow",
  workflow: { subWorkflowRef: workflow },
});

/** Builds a graph of independent nodes. */
function graph(id: string, nodes: readonly ResourceJson[]): ResourceJson {
  const ids = nodes.map((one) => one["id"] as string);
  const ends = [
    { id: "start-node", kind: "start", resources: {} },
    { id: "end-node", kind: "end", resources: {} },
  ];
  return {
    id,
    outputs: {},
    nodes: Object.fromEntries([...ends, ...nodes].map((one) => [one["id"], one])),
    connections: {},
    edges: {
      downstream: { "start-node": ids, ...Object.fromEntries(ids.map((one) => [one, ["end-node"]])) },
      upstream: { "end-node": ids, ...Object.fromEntries(ids.map((one) => [one, ["start-node"]])) },
    },
  };
}

/** Replaces `n1` by sub-workflow `s0`. */
function subWorkflows(workflows: Readonly<Record<string, ResourceJson>>): Change {
  return (resource) => {
    resource["subWorkflows"] = workflows;
    at(resource, ["spec", "nodes"])["n1"] = { ...subWorkflowNode("n1", "s0"), inputBindings: [] };
  };
}

/** Sub-workflows that each run the next one `times` times. */
function nestedWorkflows(count: number, times: number): Readonly<Record<string, ResourceJson>> {
  const callsOf = (level: number) => Array.from({ length: times }, (_, index) => subWorkflowNode(`c${index}`, `s${level + 1}`));
  return Object.fromEntries(
    Array.from({ length: count }, (_, level) => [`s${level}`, graph(`p:d:s${level}`, level === count - 1 ? [] : callsOf(level))]),
  );
}

function deep(levelCount: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < levelCount; level++) value = { a: value };
  return value;
}

const HUGE = "x".repeat(200_000);
const NUMBERS = [-1, -1e18, 1.5, 2 ** 31, 2 ** 53, 1e300, "7", null];

/** Resources written by hand, each with the reason why it must not run or must end. */
function manualResources({
  listener,
  victim,
}: ResourceContext): Readonly<Record<string, { readonly change: Change; readonly outcome: "fails" | "ends" }>> {
  const fails = (change: Change) => ({ change, outcome: "fails" as const });
  const ends = (change: Change) => ({ change, outcome: "ends" as const });
  const addresses = {
    "of another execution": `s3://my-s3-bucket/metadata/${victim.project}/${victim.domain}/${victim.name}/inputs.pb`,
    "above its own folder": `s3://my-s3-bucket/metadata/flytesnacks/development/NAME/../${victim.name}/inputs.pb`,
    "of a file": "file:///etc/flytesnacks/development/NAME/passwd",
    "of a web server": `${listener}/flytesnacks/development/NAME/inputs.pb`,
    "of another store": "gs://other-bucket/flytesnacks/development/NAME/inputs.pb",
    "without a scheme": "flytesnacks/development/NAME",
    "of a bucket without a key": "s3://my-s3-bucket",
  };
  const named = (address: string, name: string) => address.replace("NAME", name);
  const cases: Record<string, { change: Change; outcome: "fails" | "ends" }> = {
    "a sub-workflow that refers to itself": fails(subWorkflows({ s0: graph("p:d:s0", [subWorkflowNode("c0", "s0")]) })),
    "two sub-workflows that refer to each other": fails(
      subWorkflows({ s0: graph("p:d:s0", [subWorkflowNode("c0", "s1")]), s1: graph("p:d:s1", [subWorkflowNode("c0", "s0")]) }),
    ),
    "sub-workflows that double 40 times": fails(subWorkflows(nestedWorkflows(40, 2))),
    "sub-workflows that double 18 times": fails(subWorkflows(nestedWorkflows(18, 2))),
    "four levels of sub-workflows with a hundred uses each": fails(subWorkflows(nestedWorkflows(5, 100))),
    "sub-workflows 500 levels deep": fails(subWorkflows(nestedWorkflows(500, 1))),
    "a missing sub-workflow": fails(subWorkflows({ s1: graph("p:d:s1", []) })),
    "a workflow that launches itself": fails(subWorkflows({ "flytesnacks:development:sleep-chain-3": graph("x", []) })),
    "a node without its task": fails(node({ task: "resource_type:TASK name:nowhere" })),
    "a node of an unknown kind": fails(node({ kind: "teapot" })),
    "a node whose key is not its id": fails(node({ id: "n2" })),
    "a node with a binding to a missing variable": ends(
      node({ inputBindings: [{ var: "duration", binding: { promise: { nodeId: "n0", var: "nothing" } } }] }),
    ),
    "a node with a binding to a missing node": ends(
      node({ inputBindings: [{ var: "duration", binding: { promise: { nodeId: "n9", var: "o0" } } }] }),
    ),
    "a node with a binding to itself": ends(
      node({ inputBindings: [{ var: "duration", binding: { promise: { nodeId: "n1", var: "o0" } } }] }),
    ),
    "a cycle of edges": ends(
      spec((graphOf) => {
        graphOf["edges"] = {
          downstream: { "start-node": ["n0"], n0: ["n1"], n1: ["n2", "n0"], n2: ["end-node"] },
          upstream: { n0: ["start-node", "n1"], n1: ["n0"], n2: ["n1"], "end-node": ["n2"] },
        };
      }),
    ),
    "an edge from a node to itself": ends(
      spec((graphOf) => {
        graphOf["edges"] = {
          downstream: { "start-node": ["n0"], n0: ["n0", "end-node"] },
          upstream: { n0: ["start-node", "n0"], "end-node": ["n0"] },
        };
      }),
    ),
    "edges to missing nodes": fails(
      spec((graphOf) => {
        graphOf["edges"] = { downstream: { "start-node": ["n9"] }, upstream: {} };
      }),
    ),
    "no start node": ends(spec((graphOf) => void delete (graphOf["nodes"] as ResourceJson)["start-node"])),
    "no end node": ends(spec((graphOf) => void delete (graphOf["nodes"] as ResourceJson)["end-node"])),
    "no nodes": ends(spec((graphOf) => void (graphOf["nodes"] = {}))),
    "no edges": ends(spec((graphOf) => Object.assign(graphOf, { edges: {}, connections: {} }))),
    "100,000 edges between two nodes": ends(
      spec((graphOf) => void (at(graphOf, ["edges", "downstream"])["n0"] = Array.from({ length: 100_000 }, () => "n1"))),
    ),
    "an executionId of another project": fails((resource) => void (resource["executionId"] = victim)),
    "an executionId of another name": fails((resource) => void (at(resource, ["executionId"])["name"] = victim.name)),
    // Labels do not identify an execution: under Go FlyteAdmin a child has its parent's labels.
    "labels of another execution": ends((resource) => void (at(resource, ["metadata", "labels"])["execution-id"] = victim.name)),
    "labels of another project": ends((resource) => void (at(resource, ["metadata", "labels"])["project"] = victim.project)),
    "a recovery of an execution of another project": fails(config({ RecoveryExecution: victim })),
    "annotations of 10 MB": ends((resource) =>
      Object.assign(resource["metadata"] as ResourceJson, { annotations: { a: "x".repeat(10_000_000) } }),
    ),
    "a status with a terminal phase": ends(status({ phase: 4, outputs: `s3://my-s3-bucket/metadata/${victim.project}/outputs.pb` })),
    "a RUNNING status without nodes": ends(status({ phase: 1, nodeStatus: {} })),
    "a status with unknown nodes": ends(status({ phase: 1, nodeStatus: { n9: { phase: 2 }, __proto__: { phase: 2 } } })),
    "a node status below itself": ends(status({ phase: 1, nodeStatus: { n0: { phase: 1, subNodeStatus: { n0: { phase: 1 } } } } })),
    "a status of 500 levels": ends(
      status({
        phase: 1,
        nodeStatus: {
          n0: Array.from({ length: 500 }).reduce<ResourceJson>((inner) => ({ phase: 2, subNodeStatus: { x: inner } }), { phase: 2 }),
        },
      }),
    ),
    "a status in a folder of another execution": fails(
      status({ phase: 1, dataDir: `s3://my-s3-bucket/metadata/propeller/${victim.project}-${victim.domain}-${victim.name}` }),
    ),
    "slices of another execution": fails(
      status({ phase: 1, slices: { version: 1, generation: 1, prefix: `s3://my-s3-bucket/x/${victim.name}`, names: { 0: "0.1" } } }),
    ),
    "slices whose names contain ..": fails((resource, name) =>
      status({
        phase: 1,
        slices: {
          version: 1,
          generation: 1,
          prefix: `s3://my-s3-bucket/x/flytesnacks-development-${name}`,
          names: { 0: `../../../${victim.name}` },
        },
      })(resource, name),
    ),
    "missing slices": fails((resource, name) =>
      status({
        phase: 1,
        slices: { version: 1, generation: 1, prefix: `s3://my-s3-bucket/x/flytesnacks-development-${name}`, names: { 0: "0.1" } },
      })(resource, name),
    ),
    "a task type of 200,000 characters": ends((resource) => {
      for (const task of Object.values(resource["tasks"] as ResourceJson)) (task as ResourceJson)["type"] = HUGE;
    }),
    "a spec of 5,000 levels": fails(node({ kind: "array", array: deep(5_000) })),
    "a spec under __proto__": fails((resource) => {
      resource["spec"] = JSON.parse('{"__proto__":{"id":"polluted","nodes":{}},"constructor":{"prototype":{"polluted":true}}}');
    }),
    "nodes named __proto__ and constructor": ends((resource) => {
      const nodes = at(resource, ["spec", "nodes"]);
      for (const id of ["__proto__", "constructor", "toString", "hasOwnProperty"])
        Object.defineProperty(nodes, id, { value: { ...(nodes["n0"] as object), id }, enumerable: true });
    }),
    "tasks named __proto__": ends((resource) => {
      const [task] = Object.values(resource["tasks"] as ResourceJson);
      Object.defineProperty(resource["tasks"], "__proto__", { value: task, enumerable: true });
    }),
  };
  for (const [where, address] of Object.entries(addresses)) {
    cases[`inputs ${where}`] = fails((resource, name) => Object.assign(resource, { offloadedInputs: named(address, name), inputs: null }));
    cases[`a closure ${where}`] = fails((resource, name) =>
      Object.assign(resource, { workflowClosureReference: named(address, name), spec: null, tasks: null }),
    );
    cases[`a data folder ${where}`] = ends((resource, name) => status({ phase: 1, dataDir: named(address, name) })(resource, name));
  }
  for (const value of NUMBERS) {
    const shown = JSON.stringify(value);
    cases[`retries ${shown}`] = ends(node({ retry: { minAttempts: value } }));
    cases[`parallelism ${shown}`] = ends(config({ MaxParallelism: value }));
    cases[`a deadline ${shown}`] = ends(node({ executionDeadline: value, activeDeadline: value }));
    cases[`an array with successes ${shown}`] = ends((resource) => {
      const item = { ...at(resource, ["spec", "nodes", "n1"]), id: "item" };
      node({ kind: "array", task: null, array: { Parallelism: value, MinSuccesses: value, MinSuccessRatio: value, SubNodeSpec: item } })(
        resource,
        "",
      );
    });
    cases[`a phase ${shown}`] = ends(status({ phase: value }));
    cases[`a phase of a node ${shown}`] = ends(status({ phase: 1, nodeStatus: { n0: { phase: value, attempts: value } } }));
  }
  return cases;
}

const REPLACEMENTS: readonly (readonly [string, (value: unknown) => unknown])[] = [
  ["null", () => null],
  ["another type", (value) => (typeof value === "number" ? "five" : typeof value === "string" ? 5 : "text")],
  ["a list", () => [null, 1, "x", {}]],
  ["an empty value", (value) => (typeof value === "string" ? "" : {})],
  ["200,000 characters", () => HUGE],
  ["1,000 levels", () => deep(1_000)],
];

/**
 * Lists the paths of all values of a resource that propeller reads; `tasks` once, because every
 * node's task has the same fields.
 */
function* pathsOf(value: unknown, path: readonly string[]): Generator<readonly string[]> {
  if (path.length > 0) yield path;
  if (typeof value !== "object" || value === null || path.length > 8) return;
  for (const [key, inner] of Object.entries(value)) yield* pathsOf(inner, [...path, key]);
}

const FUZZED = ["spec", "inputs", "executionId", "tasks", "node-defaults", "securityContext", "rawOutputDataConfig", "executionConfig"];

/** Derives resources from a valid running one: by hand, and by replacing each of its values. */
export function hostileResources(base: ResourceJson, context: ResourceContext): readonly HostileResource[] {
  const made: HostileResource[] = [];
  const add = (what: string, change: Change, outcome: HostileResource["outcome"]) =>
    made.push({ description: what, outcome, resource: variant(base, `hostile-${made.length}`, change) });
  for (const [what, { change, outcome }] of Object.entries(manualResources(context))) add(what, change, outcome);
  let turn = 0;
  for (const path of pathsOf(Object.fromEntries(FUZZED.map((key) => [key, base[key]])), [])) {
    // Use two replacements for each path, in rotation.
    for (const [how, replace] of [REPLACEMENTS[turn % 6], REPLACEMENTS[(turn + 3) % 6]] as (typeof REPLACEMENTS)[number][]) {
      const change: Change = (resource) => {
        const holder = at(resource, path.slice(0, -1));
        const key = path.at(-1) ?? "";
        holder[key] = replace(holder[key]);
      };
      add(`${path.join(".")} replaced by ${how}`, change, "ends");
    }
    turn++;
  }
  return made;
}
