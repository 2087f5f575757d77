import { expect, test } from "vitest";
import { attentionItems } from "./attention-items.js";

const item = (overview: Parameters<typeof attentionItems>[0]) => {
  const [first] = attentionItems(overview);
  return first === undefined ? undefined : { title: first.title, detail: first.detail, act: first.act, page: first.page };
};

test("failures come first, those that a later run settled last", () => {
  const failure = { workflow: "w", count: 1, executions: ["a"], message: "ValueError: x" };
  const items = attentionItems({
    failures: [{ ...failure, executions: ["old"], succeededSince: true }, failure],
    waits: [{ reason: "no GPU", count: 2, executions: ["b", "c"] }],
    signals: [{ execution: "e", workflow: "release", signalId: "go", type: { simple: "BOOLEAN" } }],
    refusedFirings: [{ trigger: "on-upload", count: 4, reason: "no role" }],
    overdueSchedules: [{ launchPlan: { name: "hourly" } }],
  });
  expect(items.map(({ title }) => title)).toEqual([
    "w failed",
    "release waits for approval",
    "2 executions wait",
    "on-upload fires into refusals",
    "hourly is overdue",
    "w failed",
  ]);
  expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
});

test("one failure can be recovered; several lead to their list", () => {
  const failure = {
    workflow: "w",
    executions: ["a", "b"],
    code: "USER:Unknown",
    message: "Traceback (most recent call last):\nValueError: x",
  };
  expect(item({ failures: [{ ...failure, count: 1 }] })).toEqual({
    title: "w failed",
    detail: "ValueError: x",
    act: { kind: "recover", execution: "a" },
    page: { to: "/executions/$name", name: "a", search: {} },
  });
  expect(item({ failures: [{ ...failure, count: 1200 }] })).toMatchObject({
    title: "w failed 1,200 times",
    act: { kind: "open", text: "1,200 runs" },
    page: { to: "/executions", search: { phase: "FAILED.TIMED_OUT", wf: "w" } },
  });
});

test("a boolean is decided in place, another value on the page of its execution", () => {
  expect(item({ signals: [{ execution: "e", workflow: "w", signalId: "go", type: { simple: "BOOLEAN" } }] })?.act).toEqual({
    kind: "decide",
    execution: "e",
    signalId: "go",
  });
  expect(item({ signals: [{ execution: "e", workflow: "w", signalId: "go", type: { simple: "STRING" } }] })?.act).toEqual({
    kind: "open",
    text: "Answer",
  });
});

test("an overview without such things needs nothing", () => {
  expect(attentionItems({})).toEqual([]);
});
