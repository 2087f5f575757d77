import { decode, encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PlainValue } from "./plain.js";
import { readMsgpack } from "./reader.js";
import { writeMsgpack } from "./writer.js";

const key = fc.string({ maxLength: 40 });
const { value } = fc.letrec<{ value: PlainValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constant(null),
    fc.boolean(),
    fc.double(),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
    fc.string({ maxLength: 300, unit: "grapheme" }),
    fc.uint8Array({ maxLength: 300 }),
    fc.array(tie("value"), { maxLength: 20 }),
    fc.dictionary(key, tie("value"), { maxKeys: 20, noNullPrototype: true }),
  ),
}));

describe("msgpack", () => {
  test("a value is read as it was written", () => {
    fc.assert(
      fc.property(value, (plain) => {
        expect(readMsgpack(writeMsgpack(plain))).toEqual(plain);
      }),
    );
  });

  test("another decoder reads the same value", () => {
    fc.assert(
      fc.property(value, (plain) => {
        expect(decode(writeMsgpack(plain), { useBigInt64: true })).toEqual(withSmallIntegersAsNumbers(plain));
      }),
    );
  });

  test("the bytes of another encoder are read", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        expect(withoutBigints(readMsgpack(encode(json)))).toEqual(withoutBigints(json as PlainValue));
      }),
    );
  });

  test("a float stays a float, an integer an integer", () => {
    expect([...writeMsgpack(2)]).toEqual([0xcb, 0x40, 0, 0, 0, 0, 0, 0, 0]);
    expect([...writeMsgpack(2n)]).toEqual([2]);
  });

  test("lengths of every size class are written", () => {
    for (const length of [0, 15, 16, 31, 32, 255, 256, 65_535, 65_536]) {
      const text = "x".repeat(length);
      const bytes = new Uint8Array(length).fill(7);
      const list = Array.from({ length }, () => null);
      const map = Object.fromEntries(list.map((item, i) => [`k${i}`, item]));
      for (const plain of [text, bytes, list, map]) expect(readMsgpack(writeMsgpack(plain))).toEqual(plain);
    }
  });

  test("malformed bytes are refused", () => {
    expect(() => readMsgpack(new Uint8Array([0x92, 0x01]))).toThrow("ends at 2");
    expect(() => readMsgpack(new Uint8Array([0x01, 0x02]))).toThrow("1 bytes follow");
    expect(() => readMsgpack(new Uint8Array([0xd4, 0x01, 0x02]))).toThrow("extension");
    expect(() => readMsgpack(new Uint8Array([0x81, 0x90, 0x01]))).toThrow("no text and no number");
  });
});

/** The other decoder gives numbers for integers of 32 bits, bigints for larger ones. */
function withSmallIntegersAsNumbers(plain: PlainValue): unknown {
  if (typeof plain === "bigint") return plain >= -(2n ** 31n) && plain < 2n ** 32n ? Number(plain) : plain;
  if (Array.isArray(plain)) return plain.map(withSmallIntegersAsNumbers);
  if (typeof plain !== "object" || plain === null || plain instanceof Uint8Array) return plain;
  return Object.fromEntries(Object.entries(plain).map(([name, item]) => [name, withSmallIntegersAsNumbers(item as PlainValue)]));
}

function withoutBigints(plain: PlainValue): unknown {
  if (typeof plain === "bigint") return Number(plain);
  if (Object.is(plain, -0)) return 0;
  if (Array.isArray(plain)) return plain.map(withoutBigints);
  if (typeof plain !== "object" || plain === null || plain instanceof Uint8Array) return plain;
  return Object.fromEntries(Object.entries(plain).map(([name, item]) => [name, withoutBigints(item as PlainValue)]));
}
