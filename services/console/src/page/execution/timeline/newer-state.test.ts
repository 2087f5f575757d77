import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { expect, test } from "vitest";
import { isNewer, PHASE_NAMES } from "./newer-state.js";

const state = (phase: number, updatedAtMs: number) => {
  const times = { createdAtMs: 0, startedAtMs: 0, durationMs: 0 };
  return { phase, hasEnded: phase === WorkflowExecution_Phase.SUCCEEDED, updatedAtMs, ...times };
};
const read = (phase: "SUCCEEDING" | "SUCCEEDED", updatedAt: string) => ({ closure: { phase, updatedAt } });

test("phases have the names of the IDL", () => {
  expect(PHASE_NAMES.map((_, number) => WorkflowExecution_Phase[number])).toEqual([...PHASE_NAMES]);
  expect(WorkflowExecution_Phase[PHASE_NAMES.length]).toBeUndefined();
});

test("a later state is newer, and so is another phase of the same millisecond", () => {
  expect(isNewer(state(4, 2), read("SUCCEEDING", "1970-01-01T00:00:00.001Z"))).toBe(true);
  expect(isNewer(state(4, 1), read("SUCCEEDING", "1970-01-01T00:00:00.001Z"))).toBe(true);
  expect(isNewer(state(4, 1), read("SUCCEEDED", "1970-01-01T00:00:00.001Z"))).toBe(false);
  expect(isNewer(state(3, 1), read("SUCCEEDED", "1970-01-01T00:00:00.002Z"))).toBe(false);
  expect(isNewer(undefined, undefined)).toBe(true);
});
