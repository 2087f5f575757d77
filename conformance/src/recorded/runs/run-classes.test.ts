import { describe, expect, test } from "vitest";
import { Classification, formatUsage } from "../difference-classes.js";
import { differences } from "../differences.js";
import { ENGINE_CLASSES } from "./run-classes.js";
import type { RunDifference, RunRecord } from "./run-record.js";
import { findAcceptedPlants } from "./planted-values.js";
import { type NewCase, type RunPair, runPair } from "./run-record.fixture.js";

const CASES: readonly NewCase[] = [
  { label: "run", node: "n", exit: 3, failedItem: 1, errorCode: "UserProvidedError" },
  { label: "second", node: "other-", exit: 137, failedItem: 3, errorCode: "RetriesExhausted|USER:NoneError" },
];

function found({ theirs, ours }: RunPair): RunDifference[] {
  return differences(theirs, ours).map((difference) => ({ ...difference, theirs, ours }));
}

describe.each(CASES)("a case that was never recorded: $label", (given) => {
  const pair = runPair(given);

  test("is covered by the rules of the classes, and each class is used", () => {
    const classification = new Classification(ENGINE_CLASSES);
    expect(classification.add(given.label, found(pair)).map(({ path, recorded, observed }) => ({ path, recorded, observed }))).toEqual([]);
    expect(classification.usages().filter(({ differences: count }) => count === 0)).toEqual([]);
  });

  test("a wrong value at any path of ours is not covered", () => {
    expect(findAcceptedPlants(pair.theirs, pair.ours, ENGINE_CLASSES)).toEqual([]);
  });

  test("no class covers a difference of swapped records", () => {
    const swapped = found({ theirs: pair.ours, ours: pair.theirs });
    expect(swapped.length).toBeGreaterThan(0);
    expect(swapped.filter((each) => ENGINE_CLASSES.some(({ covers }) => covers(each))).map(({ path }) => path)).toEqual([]);
  });
});

const [GIVEN] = CASES as [NewCase];

/** The pair with another record of Go Flyte. */
function recordedAs(change: (theirs: RunRecord) => RunRecord): RunPair {
  const { theirs, ours } = runPair(GIVEN);
  return { theirs: change(structuredClone(theirs)), ours };
}

/** Replaces a text everywhere in a record. */
const replacing = (from: string, to: string) => (record: RunRecord) => JSON.parse(JSON.stringify(record).replaceAll(from, to)) as RunRecord;

describe("a record with more differences than the reason explains is not covered:", () => {
  const open = (pair: RunPair) => new Classification(ENGINE_CLASSES).add("case", found(pair)).map(({ path }) => path);

  test.each([
    ["another exit code of the interrupted attempt", "exit code (3)", "exit code (4)", "/executions/run exit/closure/error/message"],
    ["another failed item of a map", "[1]: Trace", "[2]: Trace", "/executions/run map/closure/error/code"],
    ["a compiler's error without a list", "MismatchingTypes", "CycleDetected", "/steps[4]/code"],
    ["a refusal of another input", "expected_inputs rate", "expected_inputs other", "/steps[1]/message"],
    [
      "a cache source of another node",
      '"node_id":"n0"',
      '"node_id":"n8"',
      "/executions/run overwrite/nodes/n0/closure/task_node_metadata/catalog_key/source_task_execution/node_execution_id/node_id",
    ],
    [
      "labels of a child that name another parent",
      '"flows-parent"},"status"',
      '"flows-stranger"},"status"',
      "/executions/run parent/nodes/n0/child_execution/cr/labels/workflow-name",
    ],
    [
      "a pod of another child",
      '"args":["run"]',
      '"args":["walk"]',
      "/executions/run parent/pods/<EXEC:run parent/n0>-n0-0/containers[0]/args[0]",
    ],
    ["an item without a cached result", "CACHE_HIT", "CACHE_MISS", "/executions/run map/blobs/n0/data/0/0/inputs.pb"],
    [
      "another output value of a node without a pod",
      '"integer":"4"',
      '"integer":"5"',
      "/executions/run/nodes/n2/outputs/literals/o0/scalar/primitive/integer",
    ],
    [
      "files of a node that has a pod",
      '"task_type":"echo"',
      '"task_type":"python-task"',
      "/executions/run/blobs/n0/data/0/n0-n1/inputs.pb",
    ],
  ])("%s", (_, from, to, path) => {
    expect(open(recordedAs(replacing(from, to)))).toContain(path);
  });

  test("a cache key stored by another execution of the record is not populated here", () => {
    const { theirs, ours } = runPair(GIVEN);
    const again = (record: RunRecord, name: string): RunRecord => ({
      ...record,
      executions: { ...record.executions, earlier: structuredClone(record.executions?.[name] ?? {}) },
    });
    const paths = open({ theirs: again(theirs, "run overwrite"), ours: again(ours, "run overwrite") });
    expect(paths.filter((path) => path.includes("/run overwrite/")).length).toBe(4);
  });
});

test("the report counts the uses of each class and marks unused ones", () => {
  const classes = [
    { name: "even", reason: "", covers: (number: number) => number % 2 === 0 },
    { name: "large", reason: "", covers: (number: number) => number > 100 },
    { name: "negative", reason: "", covers: (number: number) => number < 0 },
  ];
  const classification = new Classification(classes);
  expect(classification.add("one", [2, 4, 7])).toEqual([7]);
  expect(classification.add("two", [6, 101])).toEqual([]);
  expect(formatUsage(classification.usages())).toEqual([
    "class even: 3 differences in 2 cases",
    "class large: 1 difference in 1 case",
    "class negative: met by no case",
  ]);
});

test("names of classes are unique", () => {
  const twice = { name: "same", reason: "", covers: () => true };
  expect(() => new Classification([twice, twice])).toThrow("two classes are called same");
});
