import type { JsonValue } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { applyMergePatch } from "./merge-patch.js";

// The examples of RFC 7386, appendix A.
test.each([
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [
    ["a", "b"],
    ["c", "d"],
    ["c", "d"],
  ],
  [{ a: "b" }, ["c"], ["c"]],
  [{ a: "foo" }, null, null],
  [{ a: "foo" }, "bar", "bar"],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: "b", c: null }, { a: "b" }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
] as [JsonValue, JsonValue, JsonValue][])("%j patched with %j is %j", (target, patch, result) => {
  expect(applyMergePatch(target, patch)).toEqual(result);
});

test("a field named __proto__ is an ordinary field", () => {
  const patched = applyMergePatch({}, JSON.parse('{"__proto__":{"a":1}}') as JsonValue);
  expect(JSON.stringify(patched)).toBe('{"__proto__":{"a":1}}');
});
