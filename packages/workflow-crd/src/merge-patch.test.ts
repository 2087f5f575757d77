import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { applyMergePatch, mergePatch } from "./merge-patch.js";

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

const key = fc.oneof(fc.constantFrom("a", "b", "__proto__", "constructor", "0"), fc.string({ maxLength: 2 }));
const { value } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.integer({ max: 2, min: 0 }),
    fc.string({ maxLength: 1 }),
    fc.boolean(),
    fc.array(tie("value"), { maxLength: 2 }),
    tie("object"),
  ),
  object: fc.array(fc.tuple(key, tie("value")), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
}));
const object = fc.array(fc.tuple(key, value), { maxLength: 5 }).map((entries) => Object.fromEntries(entries) as JsonObject);

test("the patch from one object to another turns the one into the other, and says nothing between equals", () => {
  fc.assert(
    fc.property(object, object, (from, to) => {
      const before = JSON.stringify(from);
      const patch = JSON.parse(JSON.stringify(mergePatch(from, to))) as JsonObject;
      expect(JSON.stringify(sorted(applyMergePatch(from, patch)))).toBe(JSON.stringify(sorted(to)));
      expect(mergePatch(from, structuredClone(from))).toEqual({});
      expect(JSON.stringify(from)).toBe(before);
    }),
    { numRuns: 500 },
  );
});

/** The value with its keys in order, and `__proto__` kept, which toEqual passes over. */
function sorted(of: JsonValue): JsonValue {
  if (Array.isArray(of)) return of.map(sorted);
  if (typeof of !== "object" || of === null) return of;
  return Object.entries(of)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, inner]) => [name, sorted(inner)]);
}

test("undefined and null fields are absent", () => {
  expect(mergePatch({ a: 1, b: 2, c: null }, { a: undefined, b: null, d: { e: null } } as unknown as JsonObject)).toEqual({
    a: null,
    b: null,
    d: {},
  });
});
