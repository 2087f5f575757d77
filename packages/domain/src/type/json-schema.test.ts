import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sameJson, schemaCovers } from "./json-schema.js";

const object = (properties: JsonObject, rest: JsonObject = {}): JsonObject => ({ type: "object", properties, ...rest });
const int: JsonObject = { type: "integer" };
const text: JsonObject = { type: "string" };

describe("schemaCovers", () => {
  it.each<[string, JsonObject, JsonObject, boolean]>([
    ["more fields upstream", object({ a: int, b: text }), object({ a: int }), true],
    ["more fields downstream", object({ a: int }), object({ a: int, b: text }), false],
    ["another type of a field", object({ a: int }), object({ a: text }), false],
    ["titles and descriptions", object({ a: int }, { title: "A" }), object({ a: int }, { title: "B", description: "b" }), true],
    ["extra properties allowed or not", object({ a: int }, { additionalProperties: false }), object({ a: int }), true],
    ["a field required downstream only", object({ a: int }), object({ a: int }, { required: ["a"] }), false],
    ["a field required upstream only", object({ a: int }, { required: ["a"] }), object({ a: int }), true],
    ["types in another order", { type: ["null", "integer"] }, { type: ["integer", "null"] }, true],
    ["an additional type", { type: ["null", "integer"] }, { type: "integer" }, false],
    ["items", { type: "array", items: int }, { type: "array", items: int }, true],
    ["other items", { type: "array", items: int }, { type: "array", items: text }, false],
    ["items known upstream only", { type: "array", items: int }, { type: "array" }, true],
    ["items known downstream only", { type: "array" }, { type: "array", items: int }, false],
    ["tuples", { type: "array", items: [int, text] }, { type: "array", items: [int, text] }, true],
    ["tuples of other lengths", { type: "array", items: [int] }, { type: "array", items: [int, text] }, false],
    ["fewer values upstream", { type: "string", enum: ["a"] }, { type: "string", enum: ["a", "b"] }, true],
    ["fewer values downstream", { type: "string", enum: ["a", "b"] }, { type: "string", enum: ["a"] }, false],
    ["values known upstream only", { type: "string", enum: ["a"] }, text, true],
    ["values known downstream only", text, { type: "string", enum: ["a"] }, true],
    ["another pattern", { type: "string", pattern: "a" }, { type: "string", pattern: "b" }, false],
    ["unique items downstream only", { type: "array" }, { type: "array", uniqueItems: true }, false],
    ["an object without a type", object({ a: int }), { properties: { a: int } }, true],
    ["another format", { type: "string", format: "date" }, text, false],
    ["a tighter limit upstream", { type: "number", maximum: 3 }, { type: "number", maximum: 5 }, true],
    ["a looser limit upstream", { type: "number", maximum: 7 }, { type: "number", maximum: 5 }, false],
    ["a limit downstream only", { type: "number" }, { type: "number", minimum: 0 }, false],
    ["alternatives in another order", { anyOf: [int, text] }, { anyOf: [text, int] }, true],
    ["an additional alternative upstream", { anyOf: [int, text] }, { anyOf: [int] }, false],
    ["an additional alternative downstream", { anyOf: [int] }, { anyOf: [int, text] }, true],
    ["alternatives on one side", { anyOf: [int] }, {}, false],
    ["another constant", { const: 1 }, { const: 2 }, false],
  ])("%s", (_, upstream, downstream, covered) => expect(schemaCovers(upstream, downstream)).toBe(covered));

  it("follows references of both drafts, under other names", () => {
    const defs = object({ a: { $ref: "#/$defs/N" } }, { $defs: { N: object({ z: int }) } });
    const definitions = object({ a: { $ref: "#/definitions/M" } }, { definitions: { M: object({ z: int }) } });
    expect(schemaCovers(defs, definitions)).toBe(true);
    expect(schemaCovers({ $ref: "#/definitions/M", definitions: { M: object({ z: int }) } }, object({ z: int }))).toBe(true);
    expect(schemaCovers(defs, object({ a: object({ z: text }) }))).toBe(false);
  });

  it("refuses references that are dangling or circular", () => {
    expect(schemaCovers(object({ a: { $ref: "#/$defs/Absent" } }), object({ a: int }))).toBe(false);
    const circle = object({ a: { $ref: "#/$defs/A" } }, { $defs: { A: { $ref: "#/$defs/A" } } });
    expect(schemaCovers(circle, object({ a: int }))).toBe(false);
  });

  it("compares recursive schemas", () => {
    const tree = (value: JsonObject) => object({ value, next: { $ref: "#" } });
    expect(schemaCovers(tree(int), tree(int))).toBe(true);
    expect(schemaCovers(tree(int), tree(text))).toBe(false);
    const unrolled = object({ value: int, next: object({ value: int, next: { $ref: "#" } }) });
    expect(schemaCovers(tree(int), unrolled)).toBe(true);
    const late = object({ value: int, next: object({ value: text, next: { $ref: "#" } }) });
    expect(schemaCovers(tree(int), late)).toBe(false);
  });

  it("does not reuse an assumption that turned out false", () => {
    // `p` compares Y with Y under the assumption that Y covers itself, and under it X covers X.
    // `bad` makes the assumption false. The second alternative covers `p`, then `q` needs X again.
    const schema = (bad: JsonObject, alternatives: readonly JsonObject[]) => ({
      $defs: { X: object({ back: { $ref: "#/$defs/Y" } }), Y: object({ x: { $ref: "#/$defs/X" }, bad }) },
      ...object({ p: { anyOf: [...alternatives] }, q: { $ref: "#/$defs/X" } }),
    });
    const y = { $ref: "#/$defs/Y" };
    const down = schema(text, [y, { type: "object" }]);
    expect(schemaCovers(schema(text, [y]), down)).toBe(true);
    expect(schemaCovers(schema(int, [y]), down)).toBe(false);
  });

  it("ends quickly for schemas that double at each level", () => {
    const level = (i: number, leaf: JsonObject): JsonObject =>
      i === 0 ? leaf : object({ a: { $ref: `#/$defs/L${i - 1}` }, b: { $ref: `#/$defs/L${i - 1}` } });
    const doubling = (leaf: JsonObject) => ({
      $ref: "#/$defs/L60",
      $defs: Object.fromEntries(Array.from({ length: 61 }, (_, i) => [`L${i}`, level(i, leaf)])),
    });
    expect(schemaCovers(doubling(int), doubling(int))).toBe(true);
    expect(schemaCovers(doubling(int), doubling(text))).toBe(false);
  });
});

describe("sameJson", () => {
  it("ignores only the order of keys", () => {
    expect(sameJson({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 })).toBe(true);
    expect(sameJson([1, 2], [2, 1])).toBe(false);
    expect(sameJson({ a: undefined as unknown as JsonValue }, { b: 1 })).toBe(false);
    expect(sameJson(JSON.parse('{"__proto__":1}') as JsonValue, {})).toBe(false);
    expect(sameJson([], {})).toBe(false);
  });

  it("holds for a copy of any JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(sameJson(value as JsonValue, structuredClone(value) as JsonValue)).toBe(true);
      }),
    );
  });
});
