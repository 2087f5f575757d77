import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { NodeExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { CatalogMetadataSchema } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { expect, test } from "vitest";
import { Driver } from "../../../simulation/fixtures/driver.js";
import { buildWorkflow, numbers, type WorkflowSpec } from "../../../simulation/fixtures/workflow.js";
import { defaultCacheConfig } from "../cache/config.js";

const SPEC: WorkflowSpec = { main: { nodes: { n0: { kind: "task" } } } };

/** Times, ms, of the published events that a node or the workflow runs. */
function starts(driver: Driver, nodeId?: string): number[] {
  return driver.events.flatMap(({ event: { event } }) => {
    if (event.case === "node" && nodeId !== undefined) {
      const { id, phase, occurredAt } = event.value;
      return id?.nodeId === nodeId && phase === NodeExecution_Phase.RUNNING && occurredAt ? [timestampMs(occurredAt)] : [];
    }
    if (event.case !== "workflow" || nodeId !== undefined) return [];
    const { phase, occurredAt } = event.value;
    return phase === WorkflowExecution_Phase.RUNNING && occurredAt ? [timestampMs(occurredAt)] : [];
  });
}

test("after a restart the workflow and its nodes are reported RUNNING since their first start, to the second", () => {
  const driver = Driver.of(SPEC);
  driver.advance(5_000);
  driver.reply("n0", "RUNNING");
  const [workflowStart, nodeStart] = [starts(driver)[0] ?? 0, starts(driver, "n0")[0] ?? 0];
  driver.advance(60_000);
  const next = driver.restart();
  next.now = driver.now;
  next.observe({ kind: "load" });
  for (const [reported, first] of [
    [starts(next)[0] ?? 0, workflowStart],
    [starts(next, "n0")[0] ?? 0, nodeStart],
  ] as const) {
    expect(reported).toBeGreaterThanOrEqual(first);
    expect(reported).toBeLessThan(first + 1_000);
  }
});

test("a node that is unknown to the control plane is reported again with its current state", () => {
  const driver = Driver.of({ main: { nodes: { n0: { kind: "task" }, n1: { kind: "task", after: ["n0"] } } } });
  const reportUnknown = (nodeId: string) => {
    driver.takeEventTexts();
    driver.observe({ kind: "unknownNode", nodeId });
    return driver.takeEventTexts();
  };
  expect(reportUnknown("n0")).toEqual(["n0 QUEUED"]);
  driver.reply("n0", "RUNNING");
  expect(reportUnknown("n0")).toEqual(["n0 RUNNING"]);
  expect(reportUnknown("n1")).toEqual([]);
  expect(reportUnknown("n2")).toEqual([]);
  driver.reply("n0", "SUCCEEDED");
  driver.advance(3_600_000);
  expect(reportUnknown("n0")).toEqual(["n0 SUCCEEDED"]);
  driver.observe({ kind: "abort" });
  driver.reply("n1", "ABORTED");
  expect(reportUnknown("n1")).toEqual(["n1 ABORTED"]);
});

test("an end reported again after a restart has the outputs, also when no consumer needs them any more", () => {
  const driver = Driver.of({
    main: { nodes: { n0: { kind: "task" }, n1: { kind: "task", inputs: { a: "n0.o0" } }, n2: { kind: "task", after: ["n1"] } } },
  });
  driver.reply("n0", "SUCCEEDED", { outputs: numbers({ o0: 5 }) });
  driver.reply("n1", "SUCCEEDED", { outputs: numbers({ o0: 6 }) });
  const next = driver.restart();
  next.observe({ kind: "load" });
  const outputs = Object.fromEntries(
    next.events.flatMap(({ event }) =>
      event.event.case === "node" && event.event.value.phase === NodeExecution_Phase.SUCCEEDED
        ? [[event.event.value.id?.nodeId ?? "", event.outputs]]
        : [],
    ),
  );
  expect(outputs["n0"]).toEqual(numbers({ o0: 5 }));
  expect(outputs["n1"]).toEqual(numbers({ o0: 6 }));
});

/** Successes by node, as last published. */
function successes({ events }: Driver) {
  return Object.fromEntries(
    events.flatMap(({ event: { event, outputs } }) => {
      if (event.case !== "node" || event.value.phase !== NodeExecution_Phase.SUCCEEDED) return [];
      const { id, outputResult, targetMetadata, deckUri } = event.value;
      return [[id?.nodeId ?? "", { outputs, outputResult, targetMetadata, deckUri }]];
    }),
  );
}

test("a success reported again after a restart equals the first report, for any source of its outputs", () => {
  const spec: WorkflowSpec = {
    inputs: { a: 7 },
    main: {
      nodes: {
        n0: { kind: "task", inputs: { a: ".a" }, cache: { task: "c" } },
        n1: { kind: "task" },
        n2: { kind: "sub", graph: "g", inputs: { a: ".a" } },
        n3: { kind: "sleep", ms: 3_600_000 },
      },
    },
    graphs: { g: { nodes: { n0: { kind: "sleep", ms: 0 } } } },
  };
  const driver = Driver.of(spec, { cache: defaultCacheConfig });
  const hit = { outputs: numbers({ o0: 1 }), key: create(CatalogMetadataSchema), createdAt: driver.now };
  driver.answer("catalogGet", { kind: "value", value: hit });
  driver.reply("n1", "SUCCEEDED", { futures: true });
  const { root, tasks, subWorkflows } = buildWorkflow({ main: { nodes: { n0: { kind: "sleep", ms: 0 } } } }).model;
  driver.answer("readDynamic", { kind: "value", value: { model: { root, tasks, subWorkflows }, closure: undefined } });
  const first = successes(driver);
  const starts = ["start-node", "n1-0-start-node", "n2-0-start-node"];
  const ends = ["n1-0-end-node", "n2-0-end-node"];
  expect(Object.keys(first).sort()).toEqual([...starts, ...ends, "n0", "n1", "n1-0-n0", "n2", "n2-0-n0"].sort());
  const next = driver.restart();
  next.observe({ kind: "load" });
  const again = successes(next);
  for (const [nodeId, reported] of Object.entries(again)) expect([nodeId, reported]).toEqual([nodeId, first[nodeId]]);
  expect(Object.keys(again)).toEqual(expect.arrayContaining(["start-node", "n0", "n1", "n2"]));
});

test("a node that timed out after a failed attempt is reported again without the error of that attempt", () => {
  const driver = Driver.of({
    main: { nodes: { n0: { kind: "task", attempts: 2, activeMs: 60_000 }, n1: { kind: "sleep", ms: 3_600_000 } } },
  });
  driver.reply("n0", "RUNNING");
  driver.reply("n0", "FAILED", { message: "it broke", recoverable: true });
  driver.advance(50_000);
  driver.reply("n0", "RUNNING");
  driver.advance(20_000);
  driver.reply("n0", "ABORTED");
  const next = driver.restart();
  next.observe({ kind: "load" });
  const [first, again] = [driver, next].map(({ events }) =>
    events.findLast(({ event: { event } }) => event.case === "node" && event.value.phase === NodeExecution_Phase.TIMED_OUT),
  );
  expect(first?.event.event.value).toMatchObject({ outputResult: { case: undefined } });
  expect(again?.event.event.value).toMatchObject({ outputResult: { case: undefined } });
});
