import { expect, test } from "vitest";
import { readMalformed } from "./malformed-resource.js";

test("task types are read from a malformed resource", () => {
  const tasks = { a: { type: "container" }, b: { type: "container" }, c: { type: 7 }, d: 5, e: null, f: { type: "echo" } };
  expect(readMalformed({ tasks }).taskTypes).toEqual(["container", "echo"]);
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`t${index}`, { type: `type${index}` }]));
  expect(readMalformed({ tasks: many }).taskTypes).toHaveLength(100);
  expect(readMalformed({ tasks: { t: { type: "x".repeat(257) } } }).taskTypes).toEqual([]);
});

test.each([
  [undefined, false],
  [null, false],
  [{}, false],
  [{ phase: 0 }, false],
  [{ phase: 1 }, true],
  [{ phase: 0, nodeStatus: 5 }, true],
  ["running", true],
  [7, true],
  [[], true],
])("status %j: an attempt may have started is %s", (status, begun) => {
  expect(readMalformed({ status }).maybeStarted).toBe(begun);
});

test.each([undefined, null, 5, "text", [], { tasks: "none" }, { tasks: [null] }])(
  "%j is not a resource and yields no task types",
  (json) => {
    expect(readMalformed(json)).toEqual({ taskTypes: [], maybeStarted: false });
  },
);
