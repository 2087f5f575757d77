import { expect, test } from "vitest";
import { copyRows } from "../../node-table/session/node-rows.js";
import { tableOf } from "../../node-table/table/table.fixture.js";
import { type NodeRow, nodeRow } from "../../node-table/wire/chunk.fixture.js";
import { nodeName, stateName } from "../scene/node-words.js";
import { findPath, scenePath } from "../scene/paths.js";
import { type Scene, SceneFlag, type SceneStates } from "../scene/scene.js";
import { type GivenGraph, graphMessage } from "../wire/graph-message.fixture.js";
import { NodeKind } from "../wire/node-graph.js";
import type { GraphWorkerMessage } from "./protocol.js";
import { GraphSession } from "./session.js";

const MAIN: readonly GivenGraph[] = [
  {
    nodes: [
      { id: "n0", name: "load" },
      { id: "n1", kind: NodeKind.workflow, entity: "jobs.inner", subGraph: 1 },
      { id: "n2", name: "make" },
      { id: "n3", kind: NodeKind.branch, subGraph: 2 },
    ],
    edges: [
      [0, 1],
      [0, 2],
      [1, 3],
    ],
  },
  { nodes: [{ id: "n0", entity: "jobs.fit" }, { id: "n1" }], edges: [[0, 1]] },
  { nodes: [{ id: "n3-a" }, { id: "n3-b" }] },
];
const MADE: readonly GivenGraph[] = [{ nodes: [{ id: "d0" }, { id: "d1" }], edges: [[0, 1]] }];

/** Node ids of the execution: `n1-0-n0` runs in `n1`. */
const row = (key: number, id: string, changes: Partial<NodeRow> = {}): NodeRow => nodeRow({ key, id, phase: 3, attempts: 1, ...changes });

function start(read = (path: string) => Promise.resolve(graphMessage(...(path.includes("node_id") ? MADE : MAIN)))) {
  const posted: GraphWorkerMessage[] = [];
  const paths: string[] = [];
  const session = new GraphSession({
    read: (path) => {
      paths.push(path);
      return read(path);
    },
    post: (message) => posted.push(message),
    now: () => 0,
    schedule: (run) => run(),
  });
  const settled = async () => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  const shown = (): { scene: Scene; states: SceneStates; focus: number } => {
    const last = posted.findLast((message) => message.kind === "scene");
    if (last?.kind !== "scene") throw new Error("there is no scene");
    const states = posted.findLast((message) => message.kind !== "failed");
    return { ...last, states: states?.kind === "states" ? states.states : last.states };
  };
  const nodes = (rows: readonly NodeRow[]) => {
    const table = tableOf(rows);
    session.receive({
      kind: "nodes",
      nodes: copyRows(
        table,
        Int32Array.from(rows, (_, at) => at),
        true,
      ),
    });
  };
  const expand = async (path: string, isOpen = true) => {
    const { scene } = shown();
    session.receive({ kind: "expand", version: scene.version, node: findPath(scene, path), isOpen });
    await settled();
  };
  const names = () => {
    const { scene, states } = shown();
    return Object.fromEntries(
      Array.from({ length: scene.length }, (_, node) => [scenePath(scene, node), `${nodeName(scene, node)} ${stateName(states, node)}`]),
    );
  };
  return { session, posted, paths, settled, shown, nodes, expand, names };
}

async function opened(...given: Parameters<typeof start>) {
  const at = start(...given);
  at.session.receive({ kind: "open", path: "/graph", origin: "http://x" });
  await at.settled();
  return at;
}

test("the graph is shown before its nodes have begun, with branches open", async () => {
  const { names, shown } = await opened();
  expect(names()).toEqual({
    n0: "load notBegun",
    n1: "inner notBegun",
    n2: "make notBegun",
    n3: "n3 notBegun",
    "n3/n3-a": "n3-a notBegun",
    "n3/n3-b": "n3-b notBegun",
  });
  const { scene, states } = shown();
  const inner = findPath(scene, "n1");
  expect([scene.count[inner], states.squareStart[inner + 1]]).toEqual([2, 2]);
});

test("nodes of the execution colour those of the graph by the node that they run in", async () => {
  const { nodes, names, shown, expand } = await opened();
  nodes([
    row(1, "n0"),
    row(2, "n1", { phase: 2, flags: 1 }),
    row(3, "n1-0-n0", { parent: 2, spec: "n0", phase: 5, started: 5, ended: 9 }),
    row(4, "n1-0-n1", { parent: 2, spec: "n1", phase: 1 }),
  ]);
  expect(names()).toMatchObject({ n0: "load succeeded", n1: "inner running", n2: "make notBegun" });
  const inner = findPath(shown().scene, "n1");
  expect([...shown().states.squares.subarray(0, shown().states.squareStart[inner + 1])]).toHaveLength(2);
  await expand("n1");
  expect(names()).toMatchObject({ "n1/n0": "fit failed", "n1/n1": "n1 queued" });
  const { scene, states, focus } = shown();
  expect([scenePath(scene, focus), states.ids[findPath(scene, "n1/n0")]]).toEqual(["n1", "n1-0-n0"]);
  expect((scene.flags[focus] ?? 0) & SceneFlag.open).toBe(SceneFlag.open);
  await expand("n1", false);
  expect(Object.keys(names())).not.toContain("n1/n0");
});

test("a node that ran again counts with its later row", async () => {
  const { nodes, names } = await opened();
  nodes([row(5, "n0", { phase: 2 }), row(4, "n0-old", { spec: "n0", phase: 5 })]);
  expect(names()).toMatchObject({ n0: "load running" });
});

test("the graph of a dynamic node is read when it is opened, once", async () => {
  const { nodes, names, expand, paths } = await opened();
  nodes([row(1, "n2", { flags: 3 }), row(2, "n2-0-d0", { parent: 1, spec: "d0" })]);
  await expand("n2");
  expect(names()).toMatchObject({ "n2/d0": "d0 succeeded", "n2/d1": "d1 notBegun" });
  await expand("n2", false);
  await expand("n2");
  expect(paths).toEqual(["/graph", "/graph?node_id=n2"]);
});

test("a node that is selected elsewhere is found in what is around it", async () => {
  const { session, nodes, names, settled, shown } = await opened();
  nodes([row(1, "n2", { flags: 3 }), row(2, "n2-0-d0", { parent: 1, spec: "d0" })]);
  session.receive({ kind: "reveal", id: "n2-0-d0" });
  await settled();
  expect(names()).toHaveProperty("n2/d0");
  expect(scenePath(shown().scene, shown().focus)).toBe("n2/d0");
});

test("all that is known opens at once, and closes", async () => {
  const { session, names } = await opened();
  session.receive({ kind: "expandAll", isOpen: true });
  expect(Object.keys(names())).toHaveLength(8);
  session.receive({ kind: "expandAll", isOpen: false });
  expect(Object.keys(names())).toHaveLength(4);
});

test("a graph that cannot be read is reported with its code", async () => {
  const { posted } = await opened(() => Promise.reject(Object.assign(new Error("no such execution"), { code: 5 })));
  expect(posted).toEqual([{ kind: "failed", node: "", code: 5, message: "no such execution" }]);
});
