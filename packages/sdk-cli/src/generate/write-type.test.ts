import { t } from "@flyte-ts/sdk";
import { expect, test } from "vitest";
import { writeType } from "./write-type.js";

test.each([
  [t.default(t.datetime, new Date("2026-01-02T03:04:05Z")), 't.default(t.datetime, new Date("2026-01-02T03:04:05.000Z"))'],
  [t.default(t.duration, { milliseconds: 90_000 }), 't.default(t.duration, {"milliseconds":90000})'],
  [t.default(t.bytes, Uint8Array.of(0, 255)), "t.default(t.bytes, Uint8Array.of(0, 255))"],
  [t.default(t.file(), { uri: "s3://b/k" }), 't.default(t.file(), {"uri":"s3://b/k"})'],
  [t.default(t.list(t.json), [{ a: [1, null] }, "b"]), 't.default(t.list(t.json), [{"a":[1,null]},"b"])'],
])("a default is written as a value of its type (%#)", (type, text) => {
  expect(writeType(type)).toBe(text);
});
