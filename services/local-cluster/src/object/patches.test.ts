import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JsonPatchError, jsonPatch } from "./json-patch.js";
import { diff, equalJson, mergePatch, NOT_REPRESENTABLE, structuralShare } from "./merge-patch.js";
import type { Json, JsonObject } from "./model.js";
import { strategicMerge } from "./strategic-merge.js";

const json = fc.jsonValue({ maxDepth: 4 }).map((value) => value as Json);
const object = fc
  .dictionary(fc.string({ maxLength: 3 }), json, { maxKeys: 6 })
  .map((value) => JSON.parse(JSON.stringify(value).replaceAll("__proto__", "proto")) as JsonObject);

describe("merge patch", () => {
  test.each<{ target: Json; patch: Json; result: Json }>([
    { target: { a: "b" }, patch: { a: "c" }, result: { a: "c" } },
    { target: { a: "b", b: "c" }, patch: { a: null }, result: { b: "c" } },
    { target: { a: ["b"] }, patch: { a: "c" }, result: { a: "c" } },
    { target: { a: { b: "c" } }, patch: { a: { b: "d", c: null } }, result: { a: { b: "d" } } },
    { target: { a: [{ b: "c" }] }, patch: { a: [1] }, result: { a: [1] } },
    { target: ["a", "b"], patch: ["c", "d"], result: ["c", "d"] },
    { target: { e: null }, patch: { a: 1 }, result: { e: null, a: 1 } },
    { target: [1, 2], patch: { a: "b", c: null }, result: { a: "b" } },
    { target: {}, patch: { a: { bb: { ccc: null } } }, result: { a: { bb: {} } } },
  ])("RFC 7396: $target with $patch", ({ target, patch, result }) => {
    expect(mergePatch(target, patch)).toEqual(result);
  });

  test("the difference of two objects, applied to the first, gives the second", () => {
    fc.assert(
      fc.property(object, object, (before, after) => {
        const patch = diff(before, after);
        const representable = patch !== NOT_REPRESENTABLE;
        const result = patch === undefined ? before : representable ? mergePatch(before, patch) : after;
        expect(equalJson(result, after)).toBe(true);
        expect(representable || JSON.stringify(after).includes("null")).toBe(true);
      }),
    );
  });

  test("equal parts are shared, and an equal object is returned itself", () => {
    fc.assert(
      fc.property(object, object, (before, after) => {
        expect(equalJson(structuralShare(before, after), after)).toBe(true);
        expect(structuralShare(before, structuredClone(before) as JsonObject)).toBe(before);
      }),
    );
  });

  test("parts that a patch does not change keep their identity", () => {
    const target = { a: { b: 1 }, c: { d: { e: 1 }, f: { g: 1 } } };
    const result = mergePatch(target, { c: { d: { e: 2 } } }) as typeof target;
    expect(result.a).toBe(target.a);
    expect(result.c.f).toBe(target.c.f);
    expect(mergePatch(target, { c: { d: { e: 1 } } })).toBe(target);
  });

  test("a member named __proto__ is an ordinary member", () => {
    const result = mergePatch({}, JSON.parse('{"__proto__":{"polluted":1}}') as Json) as Record<string, unknown>;
    expect(result["polluted"]).toBeUndefined();
  });
});

describe("JSON patch", () => {
  test("applies all operations", () => {
    const document = { a: [1, 2, 3], b: { "c/d": 1 } };
    const result = jsonPatch(document, [
      { op: "add", path: "/a/1", value: 9 },
      { op: "remove", path: "/a/0" },
      { op: "add", path: "/a/-", value: 4 },
      { op: "replace", path: "/b/c~1d", value: 2 },
      { op: "copy", from: "/b/c~1d", path: "/e" },
      { op: "move", from: "/b", path: "/f" },
      { op: "test", path: "/f", value: { "c/d": 2 } },
    ]);
    expect(result).toEqual({ a: [9, 2, 3, 4], e: 2, f: { "c/d": 2 } });
    expect(document).toEqual({ a: [1, 2, 3], b: { "c/d": 1 } });
  });

  test.each<Json>([
    [{ op: "remove", path: "/none" }],
    [{ op: "replace", path: "/none", value: 1 }],
    [{ op: "test", path: "/a", value: 2 }],
    [{ op: "add", path: "/x/y", value: 1 }],
    [{ op: "add", path: "a", value: 1 }],
    [{ op: "add", path: "/__proto__/x", value: 1 }],
    [{ op: "jump", path: "/a" }],
    { op: "add" },
  ])("refuses %j", (operations) => {
    expect(() => jsonPatch({ a: 1 }, operations)).toThrow(JsonPatchError);
  });
});

describe("strategic merge patch", () => {
  const pod = {
    spec: {
      containers: [
        { name: "a", image: "1", env: [{ name: "X", value: "1" }] },
        { name: "b", image: "1" },
      ],
    },
    metadata: { finalizers: ["f/1"] },
  };

  test("merges lists by their key", () => {
    expect(strategicMerge(pod, { spec: { containers: [{ name: "a", env: [{ name: "Y", value: "2" }] }] } })).toMatchObject({
      spec: { containers: [{ name: "a", image: "1", env: [{ name: "X" }, { name: "Y" }] }, { name: "b" }] },
    });
  });

  test("deletes items, and replaces, orders and joins lists as directives say", () => {
    expect(strategicMerge(pod, { spec: { containers: [{ name: "a", $patch: "delete" }] } })).toMatchObject({
      spec: { containers: [{ name: "b" }] },
    });
    expect(
      strategicMerge(pod, { spec: { $setElementOrder: 0, "$setElementOrder/containers": [{ name: "b" }, { name: "a" }], containers: [] } }),
    ).toMatchObject({
      spec: { containers: [{ name: "b" }, { name: "a" }] },
    });
    expect(strategicMerge(pod, { metadata: { finalizers: ["f/2"] } })).toMatchObject({ metadata: { finalizers: ["f/1", "f/2"] } });
    expect(strategicMerge(pod, { metadata: { "$deleteFromPrimitiveList/finalizers": ["f/1"] } })).toEqual({ ...pod, metadata: {} });
    expect(strategicMerge({ a: { b: 1, c: 2 } }, { a: { $patch: "replace", d: 3 } })).toEqual({ a: { d: 3 } });
  });
});
