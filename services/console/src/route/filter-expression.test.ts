import { expect, test } from "vitest";
import { executionsSearch } from "./executions-search.js";
import { allOf, executionFilters, term } from "./filter-expression.js";

const NOW = Date.parse("2026-11-27T08:15:26.700Z");
const none = executionsSearch.read({});

test("a list without filters has no expression", () => {
  expect(executionFilters(none, NOW)).toBeUndefined();
  expect(allOf(undefined, undefined)).toBeUndefined();
});

test("each filter is a term", () => {
  const search = {
    ...none,
    phases: ["FAILED", "TIMED_OUT"],
    within: "24h",
    workflow: "a.b",
    startedBy: "ann",
    longerThan: "90s",
    text: "x1",
  } as const;
  expect(executionFilters(search, NOW)?.split("+")).toEqual([
    "value_in(phase,FAILED;TIMED_OUT)",
    "gte(created_at,2026-11-26T08:15:00.000Z)",
    "eq(workflow.name,a.b)",
    "eq(user,ann)",
    "gte(duration,90s)",
    "contains(name,x1)",
  ]);
});

test("a value cannot end its term or begin another", () => {
  expect(term("eq", "name", "a)+eq(state,1")).toBe("eq(name,aeqstate,1)");
  expect(term("eq", "name", " ( ")).toBeUndefined();
});
