import { describe, expect, test } from "vitest";
import { Classification } from "../difference-classes.js";
import { differences } from "../differences.js";
import type { RecordedNode, RunDifference, RunRecord } from "../runs/run-record.js";
import { findAcceptedPlants } from "../runs/planted-values.js";
import { GO_ADMIN_CLASSES } from "./go-admin-classes.js";

const values = (value: number) => ({ literals: { o0: { scalar: { primitive: { integer: String(value) } } } } });
const TASK = { task_id: { project: "p", domain: "d", name: "flows.t", version: "<VERSION>" }, retry_attempt: 1 };
const META = "<META>/<NS>-<EXEC:run>";
const ADMIN = "<ADMIN>/p/d/<EXEC:run>";

/** An execution of a node in another node, whose values are stored at the given addresses. */
function run(
  addresses: { readonly inputs: string; readonly outputs: string; readonly attempt: string },
  offloaded: readonly string[],
): RunRecord {
  const child: RecordedNode = {
    metadata: { spec_node_id: "n1" },
    input_uri: addresses.inputs,
    inputs: values(1),
    outputs: values(2),
    closure: { phase: "SUCCEEDED", output_uri: addresses.outputs },
    tasks: [{ id: TASK, closure: { phase: "SUCCEEDED", output_uri: addresses.attempt } }],
  };
  const parent: RecordedNode = { metadata: { spec_node_id: "n0" }, closure: { phase: "SUCCEEDED" }, children: { "n0-0-n1": child } };
  return { executions: { run: { outputs: values(2), admin_blobs: ["inputs", ...offloaded], nodes: { n0: parent } } } };
}

const folder = `${META}/n0/data/0/n1`;
const theirs = run({ inputs: `${folder}/inputs.pb`, outputs: `${folder}/1/outputs.pb`, attempt: `${folder}/1/outputs.pb` }, []);
const keys = ["n0-0-n1/offloaded_inputs", "n0-0-n1/offloaded_outputs", "n0-0-n1/p/d/flows.t/<VERSION>/1/offloaded_outputs"] as const;
const [inputs, outputs, attempt] = keys.map((key) => `${ADMIN}/${key}`) as [string, string, string];
const ours = run({ inputs, outputs, attempt }, [...keys, "offloaded_outputs"]);

/** Paths that no class covers. */
function open(their: RunRecord, our: RunRecord): string[] {
  const found = differences(their, our).map((each): RunDifference => ({ ...each, theirs: their, ours: our }));
  return new Classification(GO_ADMIN_CLASSES).add("case", found).map(({ path }) => path);
}

test("URIs of values that Go FlyteAdmin wrote are covered, and so are their files", () => {
  expect(differences(theirs, ours)).toHaveLength(7);
  expect(open(theirs, ours)).toEqual([]);
});

test("a wrong value at any path of ours is not covered", () => {
  expect(findAcceptedPlants(theirs, ours, GO_ADMIN_CLASSES)).toEqual([]);
});

test("nothing is covered when the records are swapped", () => {
  expect(open(ours, theirs)).toHaveLength(7);
});

describe("it is not covered", () => {
  const node = "/executions/run/nodes/n0/children/n0-0-n1";
  test.each([
    ["at a URI without an object", run({ inputs, outputs, attempt }, keys.slice(1)), `${node}/input_uri`],
    ["at the URI of another attempt", run({ inputs, outputs, attempt: outputs }, keys), `${node}/tasks[0]/closure/output_uri`],
    ["at the URI of the inputs in place of outputs", run({ inputs, outputs: inputs, attempt }, keys), `${node}/closure/output_uri`],
    ["as the file of a missing node", run({ inputs, outputs, attempt }, [...keys, "n7/offloaded_outputs"]), "n7/offloaded_outputs"],
  ])("%s", (_, our, expected) => {
    expect(open(theirs, our).filter((path) => path.endsWith(expected))).toHaveLength(1);
  });
});
