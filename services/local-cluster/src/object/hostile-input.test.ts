import { describe, expect, test } from "vitest";
import { parseProtobuf } from "../api/http/protobuf-body.js";
import { parseYamlBody } from "../api/http/yaml-body.js";
import { invalid } from "../api/api-error.js";
import { parseFieldSelector } from "./field-selector.js";
import { JsonPatchError, jsonPatch } from "./json-patch.js";
import { parseLabelSelector, SelectorError } from "./label-selector.js";
import type { Json, JsonObject } from "./model.js";
import { strategicMerge } from "./strategic-merge.js";

// Each of these inputs once took minutes or hours, quadratic or exponential in its size, and
// blocked the API. Each must finish within the timeout of a test.
const timeout = 30_000;
const numbered = (count: number, make: (index: number) => Json) => Array.from({ length: count }, (_, index) => make(index));

describe("YAML", () => {
  const LENGTH = 600_000;
  test.each([
    ["tags", `a: ${"!a ".repeat(LENGTH / 3)}`],
    ["anchors", `a: ${"&a ".repeat(LENGTH / 3)}`],
    ["keys", Array.from({ length: LENGTH / 10 }, (_, i) => `k${i}: 1`).join("\n")],
    ["keys in braces", `{${Array.from({ length: LENGTH / 10 }, (_, i) => `k${i}: 1`).join()}}`],
    ["closing braces", "}".repeat(LENGTH)],
    ["commas", `[${",".repeat(LENGTH)}`],
    ["colons", ": ".repeat(LENGTH / 2)],
    ["comments", "#\n".repeat(LENGTH / 2)],
    ["documents", "--- a\n".repeat(LENGTH / 6)],
    ["dashes", "- ".repeat(5_000)],
    ["question marks", "? ".repeat(5_000)],
    ["indents", Array.from({ length: 700 }, (_, i) => `${" ".repeat(i)}a:`).join("\n")],
  ])("%s are refused at once", { timeout }, (_, text) => {
    expect(() => parseYamlBody(text)).toThrow(/^the body (is not supported YAML|of the request (is nested|has more))/);
  });

  test("JSON declared as YAML has no limit of tokens", () => {
    const data = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`k${i}`, "v"]));
    expect(parseYamlBody(JSON.stringify({ data }))).toEqual({ data });
  });

  test("ordinary YAML is parsed", () => {
    expect(parseYamlBody("a: {b: [1, 'x']}\nc: |\n  text\nd: !!str 1\n")).toEqual({ a: { b: [1, "x"] }, c: "text\n", d: "1" });
    expect(parseYamlBody("{a: 1, b: [x]}")).toEqual({ a: 1, b: ["x"] });
  });
});

describe("Kubernetes protobuf", () => {
  const field = (number: number, value: Uint8Array): Buffer => {
    const head = [(number << 3) | 2];
    for (let length = value.length; ; length >>>= 7) {
      head.push(length > 127 ? (length & 127) | 128 : length);
      if (length <= 127) return Buffer.concat([Buffer.from(head), value]);
    }
  };
  const body = (raw: Uint8Array) =>
    Buffer.concat([
      Buffer.from("k8s\0"),
      field(1, Buffer.concat([field(1, Buffer.from("v1")), field(2, Buffer.from("ConfigMap"))])),
      field(2, raw),
    ]);

  test.each([
    ["finalizers", field(1, Buffer.alloc(3_000_000, field(14, Buffer.alloc(0))))],
    ["entries of data", Buffer.alloc(2_999_990, field(2, Buffer.concat([field(1, Buffer.from("k")), field(2, Buffer.from("v"))])))],
  ])("a million %s are refused at once", { timeout }, (_, raw) => {
    expect(() => parseProtobuf(body(raw))).toThrow(/more than 40000 fields/);
  });

  test("tens of thousands of list items and entries are read in one pass", { timeout }, () => {
    const finalizers = field(1, Buffer.alloc(70_000, field(14, Buffer.alloc(0))));
    expect(parseProtobuf(body(finalizers))).toMatchObject({ kind: "ConfigMap", metadata: { finalizers: Array(35_000).fill("") } });
    const entries = numbered(12_000, (i) => `k${String(i)}`).map((key) =>
      field(2, Buffer.concat([field(1, Buffer.from(key as string)), field(2, Buffer.from("v"))])),
    );
    expect(Object.keys(parseProtobuf(body(Buffer.concat(entries)))["data"] as JsonObject)).toHaveLength(12_000);
  });
});

describe("JSON patches", () => {
  test("are refused if their copies double the object", { timeout }, () => {
    const doubling = numbered(40, (i) => ({ op: "copy", from: "", path: `/a${String(i)}` }));
    expect(() => jsonPatch({ a: 1 }, doubling)).toThrow(/copy more than/);
  });

  test("with too many operations are refused", { timeout }, () => {
    expect(() =>
      jsonPatch(
        {},
        numbered(10_001, () => ({ op: "add", path: "/a", value: 1 })),
      ),
    ).toThrow(/at most 10000 operations/);
    const long = `/${"a/".repeat(1_000)}`;
    expect(() =>
      jsonPatch(
        { a: 1 },
        numbered(9_000, () => ({ op: "test", path: long, value: 1 })),
      ),
    ).toThrow(JsonPatchError);
  });

  test("are refused if they repeatedly move items to the front", { timeout }, () => {
    const list = numbered(300_000, () => 0);
    expect(() =>
      jsonPatch(
        { list },
        numbered(9_000, () => ({ op: "add", path: "/list/0", value: 1 })),
      ),
    ).toThrow(/move more than/);
    expect(() =>
      jsonPatch(
        { list },
        numbered(9_000, () => ({ op: "remove", path: "/list/0" })),
      ),
    ).toThrow(/move more than/);
  });

  test("are refused if they nest ever deeper together", { timeout }, () => {
    const nested = (levels: number): Json => (levels === 0 ? 1 : { a: nested(levels - 1) });
    const path = "/a".repeat(300);
    const once = jsonPatch({}, [{ op: "add", path: "/a", value: nested(300) }]);
    expect(() => jsonPatch(once, [{ op: "add", path, value: nested(300) }])).toThrow(/nested more than 500/);
  });
});

describe("strategic merge patches", () => {
  const COUNT = 100_000;
  test("with lists merged by a key take linear time", { timeout }, () => {
    const containers = (from: number) => numbered(COUNT, (i) => ({ name: `c${from + (i as number)}` }));
    const merged = strategicMerge({ containers: containers(0) }, { containers: containers(COUNT / 2) }) as JsonObject;
    expect(merged["containers"]).toHaveLength((COUNT * 3) / 2);
    const gone = numbered(COUNT, (i) => ({ $patch: "delete", name: `c${String(i)}` }));
    expect(strategicMerge({ containers: containers(0) }, { containers: gone })).toEqual({ containers: [] });
  });

  test("with lists that are joined, filtered and sorted take linear time", { timeout }, () => {
    const texts = (from: number) => numbered(COUNT, (i) => `f${from + (i as number)}`);
    const united = strategicMerge({ finalizers: texts(0) }, { finalizers: texts(COUNT / 2) }) as JsonObject;
    expect(united["finalizers"]).toHaveLength((COUNT * 3) / 2);
    expect(strategicMerge({ l: texts(0) }, { "$deleteFromPrimitiveList/l": texts(1) })).toEqual({ l: ["f0"] });
    const turned = texts(0).toReversed();
    expect(strategicMerge({ l: texts(0) }, { "$setElementOrder/l": turned })).toEqual({ l: turned });
    const keys = Object.fromEntries(texts(0).map((key) => [key, 1]));
    expect(strategicMerge(keys, { $retainKeys: texts(COUNT - 1) })).toEqual({ [`f${COUNT - 1}`]: 1 });
  });

  test("with nested keys compare each key once", { timeout }, () => {
    const nested = (levels: number, end: Json): Json => (levels === 0 ? end : { '"': [nested(levels - 1, end)] });
    const target = { containers: [{ name: nested(200, "a"), image: "i" }] };
    const patch = { containers: [{ name: nested(200, "a"), image: "j" }, { name: nested(200, "b") }] };
    expect(strategicMerge(target, patch)).toEqual({ containers: [{ name: nested(200, "a"), image: "j" }, { name: nested(200, "b") }] });
  });
});

describe("selectors", () => {
  test("with ambiguous spaces take linear time", { timeout }, () => {
    for (const text of [`a=${" ".repeat(300_000)}!`, `a${" ".repeat(300_000)}!`, `a in${" ".repeat(300_000)}!`, `${" ".repeat(300_000)}!`])
      expect(() => parseLabelSelector(text)).toThrow(SelectorError);
  });

  test("with endless terms are refused", { timeout }, () => {
    expect(() => parseLabelSelector("!a,".repeat(20_000))).toThrow(/at most 200 terms/);
    expect(() => parseFieldSelector("type!=a,".repeat(8_000), "Secret")).toThrow(/at most 200 terms/);
  });

  test("are refused with a short error if they are too long", () => {
    expect(() => parseLabelSelector(`${"a".repeat(60_000)} ?`)).toThrow(/^.{0,1200}$/s);
    expect(() => parseFieldSelector(`${"a".repeat(60_000)}?`, "Pod")).toThrow(/^.{0,2400}$/s);
  });
});

test("with many errors report the first hundred", () => {
  const causes = numbered(100_000, () => 0).map(() => ({ reason: "FieldValueInvalid", message: "m", field: "f" }));
  const { details, message } = invalid({ kind: "Pod", group: "", name: "p", causes });
  expect(details?.causes).toHaveLength(100);
  expect(message.length).toBeLessThan(1_000);
});
