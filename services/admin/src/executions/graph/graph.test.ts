import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { CompiledWorkflowClosureSchema, type CompiledWorkflowSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { NodeSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { type Graph, GraphSchema, GraphService, type NodeGraph, NodeKind } from "@flyte-ts/idl/flytets/admin/v1/graph_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { StoredMessageError } from "@flyte-ts/input-limits";
import { Code, createClient } from "@flyte-ts/rpc";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";
import { id, registerLaunchPlan, registerWorkflow, scope } from "../execution/registered-workflow.fixture.js";
import { findExecutionId } from "../store/execution/find.js";
import { writeNode } from "../store/node/written-nodes.fixture.js";
import { encodeGraph } from "./encode-graph.js";

type Node = MessageInitShape<typeof NodeSchema>;

/** Reads zigzag varints. */
function varints(bytes: Uint8Array, length: number): number[] {
  if (bytes.length === 0) return Array<number>(length).fill(0);
  const values: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    let [value, scale, byte] = [0, 1, 128];
    for (; byte >= 128; scale *= 128) value += ((byte = bytes[at++] ?? 0) & 127) * scale;
    values.push(value % 2 === 0 ? value / 2 : -(value + 1) / 2);
  }
  expect(values).toHaveLength(length);
  return values;
}

/** Nodes and edges of a graph by name. */
function read({ texts }: Graph, graph: NodeGraph | undefined) {
  if (graph === undefined) throw new Error("the graph is missing");
  const { length, kind } = graph;
  const prefixes = graph.idPrefix.length === 0 ? new Uint8Array(length) : graph.idPrefix;
  const lengths = [...graph.idSuffix.subarray(0, length)].map((value) => value / 2);
  let [at, before] = [length, Buffer.alloc(0)];
  const ids = lengths.map((suffix, row) => {
    before = Buffer.concat([before.subarray(0, prefixes[row]), graph.idSuffix.subarray(at, (at += suffix))]);
    return before.toString();
  });
  const text = (index: number): string => (index === 0 ? "" : (texts[index - 1] ?? "?"));
  const [names, entities, subGraphs] = [graph.name, graph.entity, graph.subGraph].map((column) => varints(column, length));
  const nodes = ids.map((node, row) => [node, kind[row] ?? 0, text(names?.[row] ?? 0), text(entities?.[row] ?? 0), subGraphs?.[row] ?? 0]);
  let from = 0;
  const froms = varints(graph.edgeFrom, graph.edges).map((delta) => (from += delta));
  const edges = varints(graph.edgeTo, graph.edges).map((offset, edge) => [ids[froms[edge] ?? -1], ids[(froms[edge] ?? -1) + offset]]);
  return { nodes, edges, failureNode: ids[graph.failureNode - 1] };
}

const name = (name: string) => ({ resourceType: ResourceType.TASK, project: "p", domain: "d", name, version: "v" });
const task = (nodeId: string, entity = "t"): Node => ({
  id: nodeId,
  metadata: { name: `${nodeId}!` },
  target: { case: "taskNode", value: { reference: { case: "referenceId", value: name(entity) } } },
});
const workflow = (
  of: string,
  nodes: readonly Node[],
  downstream: Readonly<Record<string, readonly string[]>> = {},
  failureNode?: Node,
): MessageInitShape<typeof CompiledWorkflowSchema> => ({
  template: { id: name(of), nodes: [{ id: "start-node" }, { id: "end-node" }, ...nodes], ...(failureNode && { failureNode }) },
  connections: { downstream: Object.fromEntries(Object.entries(downstream).map(([from, ids]) => [from, { ids: [...ids] }])) },
});
const encoded = (closure: MessageInitShape<typeof CompiledWorkflowClosureSchema>) =>
  toBinary(CompiledWorkflowClosureSchema, create(CompiledWorkflowClosureSchema, closure));
const graphOf = (bytes: Uint8Array) => fromBinary(GraphSchema, encodeGraph(bytes));

test("each kind of node names its entity and its graph, and marks of workflows are left out", () => {
  const branch: Node = {
    id: "n3",
    target: {
      case: "branchNode",
      value: {
        ifElse: {
          case: { thenNode: task("n3-a") },
          other: [{ thenNode: task("n3-b", "u") }],
          default: { case: "elseNode", value: task("n3-c") },
        },
      },
    },
  };
  const primary = workflow(
    "w",
    [
      task("n0"),
      { id: "n1", target: { case: "workflowNode", value: { reference: { case: "subWorkflowRef", value: name("inner") } } } },
      { id: "n2", target: { case: "workflowNode", value: { reference: { case: "launchplanRef", value: name("plan") } } } },
      branch,
      { id: "n4", target: { case: "gateNode", value: { condition: { case: "approve", value: { signalId: "s" } } } } },
      { id: "n5", target: { case: "gateNode", value: { condition: { case: "sleep", value: {} } } } },
      {
        id: "n6",
        target: { case: "arrayNode", value: { node: task("item", "mapped"), parallelismOption: { case: "parallelism", value: 3 } } },
      },
    ],
    { "start-node": ["n0", "n1"], n0: ["n2", "n3"], n1: ["n2"], n2: ["end-node"] },
    task("cleanup"),
  );
  const graph = graphOf(encoded({ primary, subWorkflows: [workflow("inner", [task("n0", "u")])] }));
  expect(read(graph, graph.graphs[0])).toEqual({
    nodes: [
      ["n0", NodeKind.TASK, "n0!", "t", 0],
      ["n1", NodeKind.WORKFLOW, "", "inner", 1],
      ["n2", NodeKind.LAUNCH_PLAN, "", "plan", 0],
      ["n3", NodeKind.BRANCH, "", "", 2],
      ["n4", NodeKind.APPROVAL, "", "", 0],
      ["n5", NodeKind.SLEEP, "", "", 0],
      ["n6", NodeKind.ARRAY, "", "mapped", 0],
      ["cleanup", NodeKind.TASK, "cleanup!", "t", 0],
    ],
    edges: [
      ["n0", "n2"],
      ["n0", "n3"],
      ["n1", "n2"],
    ],
    failureNode: "cleanup",
  });
  expect(read(graph, graph.graphs[1]).nodes).toEqual([["n0", NodeKind.TASK, "n0!", "u", 0]]);
  expect(read(graph, graph.graphs[2]).nodes.map(([node, , , entity]) => [node, entity])).toEqual([
    ["n3-a", "t"],
    ["n3-b", "u"],
    ["n3-c", "t"],
  ]);
});

test("any graph has the nodes and edges of its closure", () => {
  const edges = fc.integer({ min: 1, max: 40 }).chain((nodes) =>
    fc.record({
      nodes: fc.constant(nodes),
      pairs: fc.uniqueArray(fc.tuple(fc.nat({ max: nodes - 1 }), fc.nat({ max: nodes - 1 })), { selector: String }),
    }),
  );
  fc.assert(
    fc.property(edges, ({ nodes, pairs }) => {
      const forward = pairs.filter(([from, to]) => from < to);
      const downstream: Record<string, string[]> = {};
      for (const [from, to] of forward) (downstream[`n${from}`] ??= []).push(`n${to}`);
      const graph = graphOf(
        encoded({
          primary: workflow(
            "w",
            Array.from({ length: nodes }, (_, index) => task(`n${index}`)),
            downstream,
          ),
        }),
      );
      const { nodes: read0, edges: read1 } = read(graph, graph.graphs[0]);
      expect(read0.map(([node]) => node)).toEqual(Array.from({ length: nodes }, (_, index) => `n${index}`));
      expect(read1.map(String).sort()).toEqual(forward.map(([from, to]) => `n${from},n${to}`).sort());
    }),
  );
});

test("malformed closures and branches without an end are refused", () => {
  const closure = encoded({ primary: workflow("w", [task("n0"), task("n1")], { n0: ["n1"] }) });
  const errors = Array.from({ length: closure.length - 1 }, (_, at) => errorOf(() => encodeGraph(closure.subarray(0, at + 1))));
  expect(errors.filter((error) => error !== undefined && !(error instanceof StoredMessageError))).toEqual([]);
  let nested = task("leaf");
  for (let depth = 0; depth < 60; depth++)
    nested = { id: `b${depth}`, target: { case: "branchNode", value: { ifElse: { case: { thenNode: nested } } } } };
  expect(() => encodeGraph(encoded({ primary: workflow("w", [nested]) }))).toThrow("nests branches deeper than 50 levels");
});

test("10,000 nodes take less than 150 KB", () => {
  const nodes = Array.from({ length: 10_000 }, (_, index) => task(`n${index}`));
  const downstream = Object.fromEntries(nodes.slice(1).map((_, index) => [`n${index}`, [`n${index + 1}`]]));
  for (const node of nodes) node.metadata = { name: "fit" };
  expect(encodeGraph(encoded({ primary: workflow("w", nodes, downstream) })).length).toBeLessThan(150_000);
});

function errorOf(run: () => unknown): unknown {
  try {
    run();
    return undefined;
  } catch (error) {
    return error;
  }
}

let database: AdminDatabase;
let admin: ServedAdmin;
beforeAll(async () => {
  database = await adminDatabase();
  admin = await serveAdmin({ db: database.db });
  const client = createClient({ channel: admin.channel, service: AdminService });
  await registerWorkflow(client);
  await registerLaunchPlan(client, "w");
  await client.createExecution({
    ...scope,
    name: "e",
    spec: { launchPlan: id(ResourceType.LAUNCH_PLAN, "w"), metadata: {} },
    inputs: {
      literals: {
        x: { value: { case: "scalar", value: { value: { case: "primitive", value: { value: { case: "integer", value: 1n } } } } } },
      },
    },
  });
});
afterAll(async () => {
  await admin.stop();
  await database.stop();
});
const graphs = () => createClient({ channel: admin.channel, service: GraphService });
const execution = { ...scope, name: "e" };

test("a workflow and its execution have the same graph", async () => {
  const graph = await graphs().getWorkflowGraph({ id: id(ResourceType.WORKFLOW, "w") });
  expect(read(graph, graph.graphs[0]).nodes).toEqual([["n0", NodeKind.TASK, "n0", "t", 0]]);
  expect(await graphs().getExecutionGraph({ id: execution })).toEqual(graph);
  await expect(graphs().getWorkflowGraph({ id: id(ResourceType.WORKFLOW, "none") })).rejects.toMatchObject({ code: Code.NOT_FOUND });
  await expect(graphs().getExecutionGraph({ id: { ...execution, name: "none" } })).rejects.toMatchObject({ code: Code.NOT_FOUND });
});

test("a dynamic node has the graph of what it made, and a new one after a retry", async () => {
  const rowId = (await findExecutionId(database.db, execution)) ?? 0n;
  const write = (made: string, updated_ns: bigint) =>
    writeNode(database.db, rowId, {
      node_id: "n0",
      phase: "RUNNING",
      updated_ns,
      dynamic_workflow: Buffer.from(encoded({ primary: workflow("made", [task(made)]) })),
    });
  const made = async () => {
    const graph = await graphs().getExecutionGraph({ id: execution, nodeId: "n0" });
    return read(graph, graph.graphs[0]).nodes.map(([node]) => node);
  };
  await write("first", 1n);
  expect(await made()).toEqual(["first"]);
  await write("second", 2n);
  expect(await made()).toEqual(["second"]);
  await writeNode(database.db, rowId, { node_id: "plain", phase: "RUNNING" });
  for (const nodeId of ["plain", "none"])
    await expect(graphs().getExecutionGraph({ id: execution, nodeId })).rejects.toMatchObject({ code: Code.NOT_FOUND });
});

test("browsers get the graph once, and 304 afterwards", async () => {
  const url = `http://127.0.0.1:${admin.port}/api/v1/graphs/executions/${scope.project}/${scope.domain}/e`;
  const first = await fetch(url, { headers: { accept: "application/octet-stream" } });
  const tag = first.headers.get("etag") ?? "";
  expect(tag).toMatch(/^W\/"[\w-]{22}\.p"$/);
  expect(fromBinary(GraphSchema, new Uint8Array(await first.arrayBuffer())).graphs).toHaveLength(1);
  const again = await fetch(url, { headers: { accept: "application/octet-stream", "if-none-match": tag } });
  expect([again.status, again.headers.get("etag")]).toEqual([304, tag]);
});
