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

describe("a workflow that comes to more than an execution may hold", () => {
  test("40 sub-workflows that each run the next one twice are refused before anything is expanded", async () => {
    expect(await take(buildWorkflow(doubling(40)))).toMatchObject({
      kind: "tooLarge",
      ended: false,
      error: expect.stringMatching(/comes to \d+ node instances when its sub-workflows are expanded, the limit is 1000/),
    });
  });

  test("one that is to be aborted is refused as well: nothing is expanded to stop it", async () => {
    expect(await take({ ...buildWorkflow(doubling(40)), deletionRequested: true })).toMatchObject({ kind: "tooLarge" });
  });

  test("a sub-workflow that names itself is refused with the way round", async () => {
    const main: GraphSpec = { nodes: { n0: { kind: "sub", graph: "g" } } };
    const looped = buildWorkflow({ main, graphs: { g: { nodes: { again: { kind: "sub", graph: "g" } } } } });
    expect(await take(looped)).toMatchObject({ kind: "tooLarge", error: expect.stringContaining("contains itself") });
  });

  test("sub-workflows that stand too deep in one another are refused", async () => {
    const graphs: Record<string, GraphSpec> = { g60: { nodes: { t: { kind: "task" } } } };
    for (let level = 0; level < 60; level++) graphs[`g${level}`] = { nodes: { a: { kind: "sub", graph: `g${level + 1}` } } };
    const deep = buildWorkflow({ main: { nodes: { n0: { kind: "sub", graph: "g0" } } }, graphs });
    expect(await take(deep)).toMatchObject({ kind: "tooLarge", error: expect.stringContaining("62 deep, the limit is 50") });
  });

  test("one within the limits is taken up", async () => {
    expect(await take(buildWorkflow(doubling(5)))).toMatchObject({ kind: "run" });
  });

  test("a status that holds more than a run may come to is refused", async () => {
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
