import { expect, test } from "vitest";
import { measureJson, scanJson } from "./index.js";

const ample = { bytes: 1 << 20, elements: 10_000, depth: 100 };

test("deep nesting is rejected before JSON is parsed", () => {
  expect(scanJson("[".repeat(20_000) + "]".repeat(20_000), ample)).toEqual({ kind: "depth", limit: 100 });
  expect(scanJson('{"a":'.repeat(101), ample)).toEqual({ kind: "depth", limit: 100 });
  expect(scanJson("[".repeat(100) + "]".repeat(100), ample)).toBeUndefined();
  expect(scanJson("[[],".repeat(90) + "1" + "]".repeat(90), ample)).toBeUndefined();
});

test("values are counted, and commas within strings are not", () => {
  expect(measureJson('{"a,[{": [1, "x\\",[", {}], "b": null}', ample).elements).toBe(7);
  expect(scanJson(`[${"{},".repeat(10_000)}{}]`, ample)).toEqual({ kind: "elements", limit: 10_000 });
});

test("the size is counted in bytes of UTF-8", () => {
  expect(scanJson('"ü"', { ...ample, bytes: 3 })).toEqual({ kind: "bytes", limit: 3 });
  expect(scanJson('"ü"', { ...ample, bytes: 4 })).toBeUndefined();
});

test("an unterminated string is left to the parser", () => {
  expect(scanJson('{"a": "\\', ample)).toBeUndefined();
  expect(scanJson("", ample)).toBeUndefined();
});
