import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EXECUTION_TABS, executionSearch, NODE_GROUPS } from "./execution-search.js";
import { executionsSearch, FILTER_PHASES } from "./executions-search.js";
import { launchSearch } from "./launch-search.js";
import { entitySearch, listSearch } from "./list-search.js";
import { parseSearch, type SearchCodec, stringifySearch } from "./search.js";
import { stockAttempt, stockList, stockVersion } from "./stock-path.js";

const text = fc.string({ unit: "grapheme" }).filter((value) => value.isWellFormed());
const yesOrNo = fc.constantFrom("no", "yes");

const executions = fc.record({
  phases: fc.subarray([...FILTER_PHASES]),
  within: fc.constantFrom("any", "1h", "24h", "7d", "30d"),
  workflow: text,
  version: text,
  launchPlan: text,
  startedBy: text,
  tag: text,
  cluster: text,
  longerThan: text,
  text,
  order: fc.constantFrom("newest", "oldest", "longest"),
  archived: yesOrNo,
});
const execution = fc.record({
  tab: fc.constantFrom(...EXECUTION_TABS),
  groups: fc.subarray([...NODE_GROUPS]),
  node: text,
  attempt: text,
  item: text,
  pane: text,
  error: text,
});
const list = fc.record({ text, scheduled: yesOrNo });
const entity = fc.record({ tab: fc.constantFrom("runs", "versions", "plans", "graph"), version: text });
const launch = fc.record({ workflow: text, launchPlan: text, task: text, version: text, from: text, values: text, draft: text });

const pages: readonly (readonly [string, SearchCodec<never>, fc.Arbitrary<object>])[] = [
  ["the list of executions", executionsSearch as SearchCodec<never>, executions],
  ["an execution", executionSearch as SearchCodec<never>, execution],
  ["lists", listSearch as SearchCodec<never>, list],
  ["the launch page", launchSearch as SearchCodec<never>, launch],
  ["entities", entitySearch as SearchCodec<never>, entity],
];

describe.each(pages)("addresses of %s", (_, codec, states) => {
  test("reading an address gives the state that was written", () => {
    fc.assert(
      fc.property(states, (state) => {
        const address = stringifySearch(codec.write(state as never));
        expect(codec.read(parseSearch(address))).toEqual(state);
      }),
    );
  });

  test("any query is read, and the default state has none", () => {
    fc.assert(
      fc.property(fc.dictionary(text, fc.anything()), (raw) => {
        expect(codec.read(raw)).toBeDefined();
      }),
    );
    expect(stringifySearch(codec.write(codec.read({})))).toBe("");
  });
});

test("malformed values have their defaults; of repeated parameters the first counts", () => {
  const read = executionsSearch.read(parseSearch("?phase=FAILED.NONE&in=2y&sort=oldest&sort=newest"));
  expect(read).toMatchObject({ phases: ["FAILED"], within: "any", order: "oldest" });
});

test("keys are short", () => {
  const state = { ...executionsSearch.read({}), phases: ["FAILED", "ABORTED"] as const, workflow: "a b" };
  expect(stringifySearch(executionsSearch.write(state))).toBe("?phase=FAILED.ABORTED&wf=a+b");
});

test("addresses of the stock console lead to ours", () => {
  expect(stockList("p", "workflows", "staging")).toBe("/console/projects/p/domains/staging/workflows");
  expect(stockList("p", "settings")).toBe("/console/projects/p/domains/development");
  const version = { project: "p", domain: "d", name: "a.b", version: "v/1" };
  expect(stockVersion({ ...version, kind: "launch_plan" })).toBe("/console/projects/p/domains/d/launchPlans/a.b?tab=versions&v=v%2F1");
  expect(stockVersion({ ...version, kind: "unknown" })).toBe("/console/projects/p/domains/d");
  expect(stockAttempt("n0-0/taskId/a%2Fb/attempt/2/view/logs")).toEqual({ node: "n0-0", attempt: "2" });
  expect(stockAttempt("n0/taskId/%/attempt/x")).toEqual({ node: "n0" });
});
