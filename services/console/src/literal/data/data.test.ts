import fc from "fast-check";
import { expect, test } from "vitest";
import type { Data } from "./data.js";
import { decodeMsgpack } from "./decode-msgpack.js";
import { encodeMsgpack } from "./encode-msgpack.js";
import { formatData, formatDataLines, parseData } from "./json-text.js";

const text = fc.string({ unit: "grapheme" }).filter((value) => value.isWellFormed());
const leaf = (float: fc.Arbitrary<number>): fc.Arbitrary<Data> =>
  fc.oneof(fc.constant(null), fc.boolean(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }), float, text);
const dataOf = (float: fc.Arbitrary<number>) =>
  fc.letrec<{ data: Data }>((tie) => ({
    data: fc.oneof(
      { maxDepth: 3 },
      leaf(float),
      fc.array(tie("data"), { maxLength: 20 }),
      fc.dictionary(
        text.filter((key) => key !== "__proto__"),
        tie("data"),
      ),
    ),
  })).data;

test("msgpack reads what it wrote", () => {
  fc.assert(
    fc.property(dataOf(fc.double()), (data) => {
      expect(decodeMsgpack(encodeMsgpack(data))).toEqual(data);
    }),
  );
});

test("JSON reads what it wrote, in one line and in several", () => {
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(dataOf(finite), (data) => {
      expect(parseData(formatData(data))).toEqual(data);
      expect(parseData(formatDataLines(data))).toEqual(data);
    }),
  );
});

test("any bytes are read or refused", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(() => decodeMsgpack(bytes)).not.toThrow();
    }),
  );
});

test.each<readonly [string, Data, string]>([
  ["an object", { x: 1n, y: 1.5 }, "82a17801a179cb3ff8000000000000"],
  ["a list", [-1n, -33n, 128n, 65536n, null, true], "96ffd0dfcc80ce00010000c0c3"],
  ["a text", "é".repeat(20), `d928${"c3a9".repeat(20)}`],
])("%s has the bytes that Python writes", (_, data, hex) => expect(Buffer.from(encodeMsgpack(data)).toString("hex")).toBe(hex));
