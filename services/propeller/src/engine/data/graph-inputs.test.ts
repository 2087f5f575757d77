import { expect, test } from "vitest";
import { Driver } from "../../../simulation/fixtures/driver.js";
import { numbers, type WorkflowSpec } from "../../../simulation/fixtures/workflow.js";

/**
 * An array whose items run a graph; `n1` of the graph binds an input of the graph after `n0` has
 * ended.
 */
const ARRAY_OF_GRAPHS: WorkflowSpec = {
  main: { nodes: { n0: { kind: "array", run: { kind: "sub", graph: "g" }, lists: { a: [5, 6] }, bound: { b: 9 } } } },
  graphs: { g: { nodes: { n0: { kind: "task" }, n1: { kind: "task", inputs: { a: ".a", b: ".b" }, after: ["n0"] } } } },
};

const UPSTREAM = "s3://my-s3-bucket/metadata/propeller/p-d-exec/n0/data/0/outputs.pb";

function restarted(driver: Driver): Driver {
  const next = driver.restart();
  next.observe({ kind: "load" });
  return next;
}

test("after a restart the graph of an array item has the item's inputs", () => {
  const driver = Driver.of(ARRAY_OF_GRAPHS);
  driver.reply("n0/n0/n0", "RUNNING");
  driver.reply("n0/n1/n0", "RUNNING");
  const next = restarted(driver);
  next.reply("n0/n1/n0", "SUCCEEDED");
  expect(next.request("n0/n1/n1").inputs).toEqual(numbers({ a: 6, b: 9 }));
  next.reply("n0/n0/n0", "SUCCEEDED");
  expect(next.request("n0/n0/n1").inputs).toEqual(numbers({ a: 5, b: 9 }));
});

test("after a restart the attempt of a task in the graph of an array item continues with the item's inputs", () => {
  const driver = Driver.of(ARRAY_OF_GRAPHS);
  driver.reply("n0/n1/n0", "SUCCEEDED");
  driver.reply("n0/n1/n1", "RUNNING");
  const next = restarted(driver);
  expect(next.request("n0/n1/n1")).toMatchObject({ desired: driver.request("n0/n1/n1").desired, inputs: numbers({ a: 6, b: 9 }) });
});

test("after a restart between the entry into a graph and its start, the start event has the inputs of that graph", () => {
  const spec: WorkflowSpec = {
    inputs: { a: 1 },
    main: { nodes: { n0: { kind: "task" }, n1: { kind: "sub", graph: "g", inputs: { a: "n0.o0" } } } },
    graphs: { g: { nodes: { n0: { kind: "task", inputs: { a: ".a" } } } } },
  };
  const config = { maxInlineOutputBytes: 0 };
  const driver = Driver.of(spec, config);
  const read = { kind: "outputsRead", uri: UPSTREAM, result: { kind: "value", value: numbers({ o0: 7 }) } } as const;
  driver.reply("n0", "SUCCEEDED");
  driver.observe(read);
  driver.observe({ kind: "outputsWritten", uri: driver.writes.at(-1) ?? "" });
  // A process with a small limit per observation may write that the graph was entered and exit
  // before its start node has ended.
  const n1 = driver.resource.status.nodeStatus?.["n1"];
  expect(n1).toMatchObject({ workflowNodeStatus: { phase: 1 } });
  delete n1?.subNodeStatus;
  const next = driver.restart(config);
  next.observe({ kind: "load" });
  next.observe(read);
  const start = next.events.find(({ event: { event } }) => event.case === "node" && event.value.id?.nodeId === "n1-0-start-node");
  expect(start?.event.outputs).toEqual(numbers({ a: 7 }));
});

test("after a restart, a repeated request of a failure node contains the failure", () => {
  const driver = Driver.of({ main: { nodes: { n0: { kind: "task" } }, onFailure: { kind: "task", inputs: { err: 0 } } } });
  driver.reply("n0", "FAILED");
  const { inputs } = driver.request("fn0");
  expect(inputs?.literals["err"]?.value).toMatchObject({ value: { value: { case: "union" } } });
  expect(restarted(driver).request("fn0").inputs).toEqual(inputs);
});
