import { describe, expect, test } from "vitest";
import { NodePhase } from "@flyte-ts/domain/phase";
import type { ParsedWorkflow } from "@flyte-ts/workflow-crd";
import type { WorkflowStatus } from "@flyte-ts/workflow-crd/status";
import { defaultEngineConfig } from "../../engine/config.js";
import { buildWorkflow, type GraphSpec, type WorkflowSpec } from "../../../simulation/fixtures/workflow.js";
import type { WorkflowLoader } from "./load-workflow.js";
import { loadRun } from "./load-run.js";

const engine = { ...defaultEngineConfig(() => 0.5), maxInstances: 1_000, maxDepth: 50 };

function take(workflow: ParsedWorkflow) {
  const loader = { load: () => Promise.resolve(workflow) } as unknown as WorkflowLoader;
  return loadRun("p-d/w", { loader, engine, now: () => 0 });
}

/** Each of `levels` sub-workflows runs the next one twice. */
function doubling(levels: number): WorkflowSpec {
  const graphs: Record<string, GraphSpec> = {};
  for (let level = 0; level < levels; level++) {
    const next = `g${level + 1}`;
    graphs[`g${level}`] =
      level + 1 === levels
        ? { nodes: { t: { kind: "task" } } }
        : { nodes: { a: { kind: "sub", graph: next }, b: { kind: "sub", graph: next } } };
  }
  return { main: { nodes: { n0: { kind: "sub", graph: "g0" } } }, graphs };
}

describe("a workflow with more nodes than an execution may hold", () => {
  test("40 sub-workflows that each run the next one twice are refused before expansion", async () => {
    expect(await take(buildWorkflow(doubling(40)))).toMatchObject({
      kind: "tooLarge",
      ended: false,
      error: expect.stringMatching(/comes to \d+ node instances when its sub-workflows are expanded, the limit is 1000/),
    });
  });

  test("an execution to be aborted is refused as well, without expansion", async () => {
    expect(await take({ ...buildWorkflow(doubling(40)), deletionRequested: true })).toMatchObject({ kind: "tooLarge" });
  });

  test("a sub-workflow that refers to itself is refused with the cycle", async () => {
    const main: GraphSpec = { nodes: { n0: { kind: "sub", graph: "g" } } };
    const looped = buildWorkflow({ main, graphs: { g: { nodes: { again: { kind: "sub", graph: "g" } } } } });
    expect(await take(looped)).toMatchObject({ kind: "tooLarge", error: expect.stringContaining("contains itself") });
  });

  test("sub-workflows that are nested too deep are refused", async () => {
    const graphs: Record<string, GraphSpec> = { g60: { nodes: { t: { kind: "task" } } } };
    for (let level = 0; level < 60; level++) graphs[`g${level}`] = { nodes: { a: { kind: "sub", graph: `g${level + 1}` } } };
    const deep = buildWorkflow({ main: { nodes: { n0: { kind: "sub", graph: "g0" } } }, graphs });
    expect(await take(deep)).toMatchObject({ kind: "tooLarge", error: expect.stringContaining("62 deep, the limit is 50") });
  });

  test("a workflow within the limits is loaded", async () => {
    expect(await take(buildWorkflow(doubling(5)))).toMatchObject({ kind: "run" });
  });

  test("a status with more nodes than an execution may hold is refused", async () => {
    const status: WorkflowStatus = {
      phase: 1,
      nodeStatus: { n0: { phase: NodePhase.Running, arrayNodeStatus: { phase: 1, subattempts: { count: 1_000_000_000 } } as never } },
    };
    const array: WorkflowSpec = { main: { nodes: { n0: { kind: "array", run: { kind: "task" }, lists: { a: [1, 2] } } } } };
    expect(await take(buildWorkflow(array, status))).toMatchObject({
      kind: "tooLarge",
      error: expect.stringContaining("the status holds"),
    });
  });
});
