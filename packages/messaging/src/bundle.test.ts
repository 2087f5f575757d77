import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeBundle, encodeBundle } from "./bundle.js";

test("a bundle gives back what was put in", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), (parts) => {
      const { data, headers } = encodeBundle(parts);
      expect(decodeBundle(data)?.map((part) => [...part])).toEqual(parts.map((part) => [...part]));
      expect(headers.get("Flyte-Bundle")).toBe(String(parts.length));
    }),
  );
});

test("what was cut off is no bundle", () => {
  const { data } = encodeBundle([Buffer.from("one"), Buffer.from("two")]);
  for (const length of [1, 3, 5, 8, 10, 13]) expect(decodeBundle(data.subarray(0, length))).toBeUndefined();
});
