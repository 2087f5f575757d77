import { expect, test } from "vitest";
import { literalText } from "./literal-text.js";

test.each([
  [{ scalar: { primitive: { integer: "9007199254740993" } } }, "integer", "9007199254740993"],
  [{ scalar: { primitive: { boolean: false } } }, "boolean", "false"],
  [{ scalar: { noneType: {} } }, "none", "none"],
  [{ scalar: { blob: { uri: "s3://a", metadata: { type: { dimensionality: "MULTIPART" } } } } }, "directory", "s3://a"],
  [{ scalar: { union: { value: { scalar: { primitive: { stringValue: "x" } } } } } }, "string", "x"],
  [
    { collection: { literals: [{ scalar: { primitive: { integer: "1" } } }, { scalar: { primitive: { integer: "9007199254740993" } } }] } },
    "list",
    '[\n  1,\n  "9007199254740993"\n]',
  ],
  [{ map: { literals: { a: { scalar: { primitive: { floatValue: 0.5 } } } } } }, "map", '{\n  "a": 0.5\n}'],
  [{ scalar: { binary: { value: "gaFD", tag: "msgpack" } }, hash: "" }, "msgpack", "gaFD"],
  [{}, "none", "none"],
] as const)("%j is a value of type %s", (literal, type, text) => {
  expect(literalText(literal as Parameters<typeof literalText>[0])).toEqual({ type, text });
});
