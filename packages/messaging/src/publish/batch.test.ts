import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeBatch, encodeBatch } from "./batch.js";

test("decodeBatch reverses encodeBatch", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), (parts) => {
      const { data, headers } = encodeBatch(parts);
      expect(decodeBatch(data)?.map((part) => [...part])).toEqual(parts.map((part) => [...part]));
      expect(headers.get("Flyte-Bundle")).toBe(String(parts.length));
    }),
  );
});

test("a truncated batch is rejected", () => {
  const { data } = encodeBatch([Buffer.from("one"), Buffer.from("two")]);
  for (const length of [1, 3, 5, 8, 10, 13]) expect(decodeBatch(data.subarray(0, length))).toBeUndefined();
});
