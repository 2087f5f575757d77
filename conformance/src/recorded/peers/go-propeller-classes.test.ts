import { expect, test } from "vitest";
import { differences } from "../differences.js";
import type { RunDifference, RunRecord } from "../runs/run-record.js";
import { findAcceptedPlants } from "../runs/planted-values.js";
import { runPair } from "../runs/run-record.fixture.js";
import { GO_PROPELLER_CLASSES } from "./go-propeller-classes.js";

const pair = runPair({ label: "run", node: "n", exit: 3, failedItem: 1, errorCode: "UserProvidedError" });
/** Selects the execution whose container exits with a code. */
const only = ({ executions }: RunRecord): RunRecord => ({ executions: { "run exit": executions?.["run exit"] ?? {} } });
const [interrupted, exited] = [only(pair.theirs), only(pair.ours)];

const open = (theirs: RunRecord, ours: RunRecord): RunDifference[] =>
  differences(theirs, ours)
    .map((each): RunDifference => ({ ...each, theirs, ours }))
    .filter((each) => !GO_PROPELLER_CLASSES.some(({ covers }) => covers(each)));

test("a recorded exit with a reported interruption is covered, and not the other way round", () => {
  expect(differences(exited, interrupted).length).toBeGreaterThan(10);
  expect(open(exited, interrupted)).toEqual([]);
  expect(open(interrupted, exited)).toHaveLength(differences(interrupted, exited).length);
});

test("a wrong value at any path of ours is not covered", () => {
  expect(findAcceptedPlants(exited, interrupted, GO_PROPELLER_CLASSES)).toEqual([]);
});
