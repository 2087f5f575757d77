import type { WorkflowJson } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { expect, test } from "vitest";
import type { RowView } from "../../../node-table/session/protocol.js";
import { rowKind, rowName } from "../../../timeline/tree/row-text.js";
import { gateTitles, mayBeGateRow } from "./gate-titles.js";

const top = [
  { id: "n0", gateNode: { signal: { signalId: "title", type: { simple: "STRING" } } } },
  { id: "n1", gateNode: { approve: { signalId: "consent" } } },
  { id: "n2", gateNode: { sleep: { duration: "5s" } } },
  { id: "n3", taskNode: {} },
];
const inner = [
  { id: "n0", taskNode: {} },
  { id: "n4", gateNode: { approve: { signalId: "inner" } } },
];
const workflow = {
  closure: { compiledWorkflow: { primary: { template: { nodes: top } }, subWorkflows: [{ template: { nodes: inner } }] } },
} as WorkflowJson;

const texts = { id: "n0", nodeId: "n0", specId: "", task: "", errorCode: "", state: "waiting" } as const;
const numbers = { phase: 2, flags: 0, attempts: 0, count: 0, queuedMs: 0, startedMs: 1, endedMs: undefined } as const;
const places = { isGroup: false, place: 0, depth: 0, position: 1, siblings: 1, above: -1 } as const;
const row = (given: Partial<RowView>): RowView => ({
  ...texts,
  ...numbers,
  ...places,
  isExpanded: undefined,
  isCritical: false,
  ...given,
});
const words = (given: Partial<RowView>) => {
  const shown = row(given);
  const title = gateTitles(workflow)(shown);
  return `${rowName(shown, title)} / ${rowKind(shown, { title })}`;
};

test("a gate has the name of its signal, while it waits and when it has its answer", () => {
  expect(words({})).toBe("title / signal · n0");
  expect(words({ nodeId: "n1" })).toBe("consent / approval · n1");
  expect(words({ nodeId: "n1", state: "succeeded", phase: 3, endedMs: 5 })).toBe("consent / approval · n1");
});

test("a rest and a task keep the id of their node", () => {
  expect(words({ nodeId: "n2" })).toBe("n2 / gate");
  expect(words({ nodeId: "n3", task: "jobs.train", state: "running" })).toBe("train / n3");
});

test("a gate of a sub-workflow is named, unless another workflow has another node of that id", () => {
  expect(words({ nodeId: "n5-0-n4", specId: "n4" })).toBe("inner / approval · n4");
  expect(words({ nodeId: "n5-0-n0", specId: "n0" })).toBe("n0 / gate");
});

test.each<[string, Partial<RowView>]>([
  ["has not begun", { startedMs: undefined }],
  ["is a group", { isGroup: true }],
  ["came from the cache", { state: "cached" }],
  ["was recovered", { state: "succeeded", phase: 10 }],
  ["encloses others", { flags: 1, count: 2 }],
])("a row that %s is no gate", (_, given) => expect(mayBeGateRow(row(given))).toBe(false));
