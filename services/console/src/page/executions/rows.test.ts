import { expect, test } from "vitest";
import { executionRow } from "../../api/execution-row.js";
import { type BulkResult, runBulk } from "./bulk.js";
import { mergeRows, openNames, replaceRows } from "./merge-rows.js";

const row = (name: string, phase: "RUNNING" | "SUCCEEDED" = "RUNNING") => executionRow({ id: { name }, closure: { phase } });

test("new executions are counted, and rows change in their place", () => {
  const merged = mergeRows([[row("b"), row("a")], [row("a")]], [row("d"), row("c"), row("b", "SUCCEEDED")]);
  expect(merged.rows.map(({ key, phase }) => [key.name, phase])).toEqual([
    ["b", "SUCCEEDED"],
    ["a", "RUNNING"],
  ]);
  expect(merged.fresh).toBe(2);
});

test("a row that has ended is not taken back by an answer that was read before", () => {
  expect(mergeRows([[row("a", "SUCCEEDED")]], [row("a")]).rows.map(({ phase }) => phase)).toEqual(["SUCCEEDED"]);
});

test("rows that have not ended are read again, whichever filter the list has", () => {
  const pages = [{ rows: [row("c"), row("b", "SUCCEEDED")] }, { rows: [row("a"), row("c")] }];
  const rows = pages.map((page) => page.rows);
  expect([openNames(rows, 10), openNames(rows, 1)]).toEqual([["c", "a"], ["c"]]);
  const replaced = replaceRows(pages, [row("a", "SUCCEEDED"), row("b")]);
  expect(replaced.map((page) => page.rows.map(({ phase }) => phase))).toEqual([
    ["RUNNING", "SUCCEEDED"],
    ["SUCCEEDED", "RUNNING"],
  ]);
});

test("an act on several has a result for each, and a failure does not stop the others", async () => {
  const reports: (readonly BulkResult<number>[])[] = [];
  let [running, most] = [0, 0];
  const results = await runBulk(
    Array.from({ length: 20 }, (_, index) => index),
    async (key) => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      if (key === 3) throw new Error("refused");
      return `copy-${key}`;
    },
    (report) => reports.push(report),
  );
  expect(results.map(({ key }) => key)).toEqual(Array.from({ length: 20 }, (_, index) => index));
  expect(results[3]?.outcome).toEqual({ ok: false, reason: "refused" });
  expect(results.filter(({ outcome }) => outcome?.ok === true)).toHaveLength(19);
  expect([reports.length, most]).toEqual([21, 4]);
});

test("a row tells the starter, and no duration before the end", () => {
  const { startedBy, durationMs, error } = executionRow({
    spec: { metadata: { mode: "CHILD_WORKFLOW", parentNodeExecution: { executionId: { name: "parent" } } } },
    closure: { phase: "RUNNING", duration: "9s", error: { message: "\n first\nsecond" } },
  });
  expect([startedBy, durationMs, error]).toEqual([{ kind: "execution", name: "parent" }, undefined, "first"]);
});
