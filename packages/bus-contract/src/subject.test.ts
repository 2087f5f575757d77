import fc from "fast-check";
import { expect, test } from "vitest";
import { taskRequestFilter, taskRequestSubject, taskTypeToken } from "./subject.js";

test("plain task types stay readable in subjects", () => {
  expect(taskRequestSubject("python-task", 7)).toBe("flyte.task.python-task.7");
  expect(taskRequestFilter("agent.v1 x")).toBe("flyte.task.agent%2Ev1%20x.*");
});

test("every task type becomes one token, and no two types share a token", () => {
  const type = fc.string({ unit: "binary" }).filter((text) => text.isWellFormed());
  fc.assert(
    fc.property(type, type, (a, b) => {
      expect(taskTypeToken(a)).toMatch(/^[A-Za-z0-9_%-]+$/);
      expect(taskTypeToken(a) === taskTypeToken(b)).toBe(a === b);
    }),
  );
});
