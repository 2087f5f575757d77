import { expect, test } from "vitest";
import type { CallOf } from "../../engine/calls/call.js";
import { CallLimiter } from "./handlers.js";

test("a call waits for one call of another execution, not for all of them", async () => {
  const answered: string[] = [];
  const answers: (() => void)[] = [];
  const { readExecution } = new CallLimiter(1).limit({
    readExecution: async (_: CallOf<"readExecution">, execution: string) => {
      await new Promise<void>((resolve) => answers.push(resolve));
      answered.push(execution);
      return { kind: "value" as const, value: { phase: "running" as const } };
    },
  });
  const call = (execution: string) => readExecution({ kind: "readExecution" } as CallOf<"readExecution">, execution);
  const calls = [...Array.from({ length: 1_000 }, () => call("p-d/large")), call("p-d/small")];
  while (answered.length < calls.length) {
    await expect.poll(() => answers.length).toBe(1);
    answers.pop()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(answered.indexOf("p-d/small")).toBeLessThanOrEqual(2);
  expect(answered).toHaveLength(1_001);
  await Promise.all(calls);
});
