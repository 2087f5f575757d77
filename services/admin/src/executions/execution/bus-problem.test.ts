import { expect, test } from "vitest";
import { withBusProblem } from "./bus-problem.js";
import type { ExecutionRow } from "../store/execution/find.js";

const now = new Date("2026-11-24T00:00:00Z");
const row = (phase: string, notice = "") => ({ phase, notice, notice_ns: null }) as ExecutionRow;

test("an active execution shows that the message bus is unavailable", () => {
  expect(withBusProblem(row("RUNNING"), "the message bus does not store messages", now)).toMatchObject({
    notice: "the message bus does not store messages",
    notice_ns: 1_795_478_400_000_000_000n,
  });
});

test("an ended execution and one with its own blocking reason are shown unchanged, as are all while the bus works", () => {
  for (const [shown, problem] of [
    [row("SUCCEEDED"), "away"],
    [row("RUNNING", "no plugin"), "away"],
    [row("RUNNING"), undefined],
  ] as const)
    expect(withBusProblem(shown, problem, now)).toBe(shown);
});
