import { expect, test } from "vitest";
import { Driver } from "../../../simulation/fixtures/driver.js";
import type { WorkflowSpec } from "../../../simulation/fixtures/workflow.js";
import { MAX_ERROR_MESSAGE } from "./bound-message.js";

const NODES = 40;
const spec: WorkflowSpec = {
  main: {
    finishExecutable: true,
    nodes: Object.fromEntries(Array.from({ length: NODES }, (_, i) => [`n${i}`, { kind: "task" as const }])),
  },
};

test("errors of many nodes are complete in events and bounded in the status, also after a restart", () => {
  let d = Driver.of(spec);
  const message = `BEGIN${"x".repeat(2 * MAX_ERROR_MESSAGE)}END`;
  const sizes: number[] = [];
  const failAll = (from: number, to: number) => {
    for (let i = from; i < to; i++) d.reply(`n${i}`, "FAILED", { code: "Loud", message });
    for (const { event } of d.events)
      if (event.event.case === "node" && event.event.value.outputResult.case === "error")
        sizes.push(event.event.value.outputResult.value.message.length);
  };
  failAll(0, NODES / 2);
  d = d.restart();
  d.observe({ kind: "load" });
  d.events.splice(0);
  failAll(NODES / 2, NODES);
  const messages = Object.values(d.storedStatus.nodeStatus ?? {}).flatMap(({ error }) => error?.message ?? []);
  expect(messages).toHaveLength(NODES);
  expect(messages.reduce((sum, text) => sum + text.length, 0)).toBeLessThan(512 * 1024 + NODES * 1024);
  for (const text of messages) expect(text).toMatch(/BEGINx+\.\.\. <Message Truncated> \.\.\.x+END$/);
  expect(sizes.length).toBe(NODES);
  for (const length of sizes) expect(length).toBeGreaterThan(MAX_ERROR_MESSAGE - 10);
  expect(JSON.stringify(d.resource.status).length).toBeLessThan(512 * 1024);
});
