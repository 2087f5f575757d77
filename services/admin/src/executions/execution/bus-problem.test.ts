import { expect, test } from "vitest";
import { withBusProblem } from "./bus-problem.js";
import type { ExecutionRow } from "../store/execution/find.js";

const now = new Date("2026-11-24T00:00:00Z");
const row = (phase: string, notice = "") => ({ phase, notice, notice_ns: null }) as ExecutionRow;

test("an execution that has not ended waits for a message bus that cannot be used", () => {
  expect(withBusProblem(row("RUNNING"), "the message bus does not store messages", now)).toMatchObject({
    notice: "the message bus does not store messages",
    notice_ns: 1_795_478_400_000_000_000n,
  });
});

test("one that has ended or says itself what is in the way is shown as it is, and so are all while the bus works", () => {
  for (const [shown, problem] of [
    [row("SUCCEEDED"), "away"],
    [row("RUNNING", "no plugin"), "away"],
    [row("RUNNING"), undefined],
  ] as const)
    expect(withBusProblem(shown, problem, now)).toBe(shown);
});
