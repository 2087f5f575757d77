import { expect, test } from "vitest";
import { EMPTY_DRAFT, triggerOf, triggerProblem } from "./trigger-draft.js";
import { isPaused, sourceText } from "./trigger-text.js";

const scope = { project: "p", domain: "d" };
const draft = { ...EMPTY_DRAFT, name: "after-train", launchPlan: "report" };

test.each([
  [{ ...draft, name: "" }, /a name of lower-case letters/],
  [{ ...draft, name: "After" }, /a name of lower-case letters/],
  [{ ...draft, name: `a${"b".repeat(63)}` }, /at most 63/],
  [{ ...draft, launchPlan: "" }, /Choose the launch plan/],
  [{ ...draft, launchPlan: "other" }, /other has no active version/],
  [{ ...draft, inputs: "[]" }, /must be a JSON object/],
  [{ ...draft, inputs: "{" }, /must be a JSON object/],
])("a draft with a fault says which: %o", (faulty, text) => {
  expect(triggerProblem(faulty, ["report"])).toMatch(text);
});

test("a draft becomes the trigger that admin takes", () => {
  expect(triggerProblem(draft, ["report"])).toBeUndefined();
  // The page knows only some of them.
  const many = Array.from({ length: 1_000 }, (_, index) => `plan-${index}`);
  expect(triggerProblem(draft, many)).toBeUndefined();
  expect(triggerOf(scope, { ...draft, workflow: "train", onFailure: true, inputs: '{"rows":{"output":"o0"}}' })).toEqual({
    id: { project: "p", domain: "d", name: "after-train" },
    launchPlan: { resourceType: "LAUNCH_PLAN", project: "p", domain: "d", name: "report" },
    inputs: { rows: { output: "o0" } },
    execution: { workflow: "train", phases: ["SUCCEEDED", "FAILED", "ABORTED", "TIMED_OUT"] },
  });
  expect(triggerOf(scope, { ...draft, source: "github" })).toMatchObject({ webhook: { scheme: "WEBHOOK_SCHEME_GITHUB" } });
});

test("a trigger says when it fires", () => {
  expect(sourceText(triggerOf(scope, draft))).toBe("any execution ends as succeeded");
  expect(sourceText({ execution: { workflow: "train", project: "q", phases: ["FAILED", "TIMED_OUT"] } })).toBe(
    "train in q ends as failed, timed out",
  );
  expect(sourceText(triggerOf(scope, { ...draft, source: "standard" }))).toBe("a signed webhook arrives");
  expect([isPaused({ state: "TRIGGER_STATE_PAUSED" }), isPaused({})]).toEqual([true, false]);
});
