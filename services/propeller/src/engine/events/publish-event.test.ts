import { expect, test } from "vitest";
import { Driver } from "../../../simulation/fixtures/driver.js";
import { buildWorkflow } from "../../../simulation/fixtures/workflow.js";

test("each event of an execution has the time at which the execution was accepted", () => {
  const parsed = buildWorkflow({ main: { nodes: { n0: { kind: "task", type: "spark" } } } });
  const acceptedAt = new Date("2026-11-21T09:59:00Z");
  const d = new Driver({ ...parsed, model: { ...parsed.model, acceptedAt } });
  d.observe({ kind: "load", isNew: true });
  d.reply("n0", "SUCCEEDED");
  const kinds = new Set(d.events.map(({ event }) => event.event.case));
  expect(kinds).toEqual(new Set(["workflow", "node"]));
  expect(new Set(d.events.map(({ event }) => event.acceptedAt?.seconds))).toEqual(new Set([BigInt(acceptedAt.getTime() / 1_000)]));
});
