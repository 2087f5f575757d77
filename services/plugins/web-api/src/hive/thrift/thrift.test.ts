import { expect, test } from "vitest";
import { numberAt, structAt, textAt, ThriftFormatError, ThriftReader } from "./decode.js";
import { binary, bool, i32, i64, struct, text, textMap } from "./encode.js";
import { decodeReply, encodeCall } from "./message.js";

const read = (hex: string) => new ThriftReader(Buffer.from(hex, "hex")).struct();

test("a call has the bytes of Thrift's strict binary protocol", () => {
  expect(Buffer.from(encodeCall("ab", struct({ 1: i32(-2) }))).toString("hex")).toBe(
    ["80010001", "00000002", "6162", "00000000", "0c0001", "080001", "fffffffe", "00", "00"].join(""),
  );
});

test("values are decoded as they were encoded", () => {
  const fields = { 1: bool(true), 2: i64(-5n), 3: text("ü"), 4: binary(Uint8Array.of(0, 255)), 300: textMap({ k: "v" }), 5: undefined };
  const decoded = new ThriftReader(Buffer.from(struct({ 1: struct(fields) }).bytes)).struct();
  const inner = structAt(decoded, 1);
  expect([inner?.get(1), inner?.get(2), textAt(inner, 3), inner?.get(4), inner?.get(300), inner?.has(5)]).toEqual([
    true,
    -5n,
    "ü",
    Buffer.from([0, 255]),
    [Buffer.from("k"), Buffer.from("v")],
    false,
  ]);
});

test("other types are skipped without harm", () => {
  const decoded = read(
    `030001${"ff"}` + `060002${"0102"}` + `040003${"3ff8000000000000"}` + `0f0004${"08"}${"00000002"}${"00000001"}${"00000002"}00`,
  );
  expect([decoded.get(1), decoded.get(2), decoded.get(3), decoded.get(4)]).toEqual([-1, 258, 1.5, [1, 2]]);
  expect(numberAt(decoded, 9)).toBeUndefined();
});

test.each([
  ["a text longer than the message", "0b00017fffffff61"],
  ["a negative length", "0b0001ffffffff00"],
  ["a list longer than the message", "0f00010b7fffffff00"],
  ["an unknown type", "77000100"],
  ["no end", "0800010000"],
  ["deep structs", "0c0001".repeat(1_000)],
  ["deep lists", `0f0001${"0f00000001".repeat(1_000)}`],
])("%s is refused", (_, hex) => {
  expect(() => read(hex)).toThrow(ThriftFormatError);
});

test("an exception of the server is its message; other bytes are refused", () => {
  const exception = ["80010003", "00000001", "78", "00000000", "0b0001", "00000003", "626164", "00"].join("");
  expect(() => decodeReply(Buffer.from(exception, "hex"))).toThrow("bad");
  expect(() => decodeReply(Buffer.from("<html></html>"))).toThrow(ThriftFormatError);
  expect(() => decodeReply(Buffer.from(["80010002", "00000001", "78", "00000000", "00"].join(""), "hex"))).toThrow("has no result");
});
