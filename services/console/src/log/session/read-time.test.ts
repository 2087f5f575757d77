import fc from "fast-check";
import { expect, test } from "vitest";
import { readTime } from "./read-time.js";

const utf8 = new TextEncoder();
const read = (text: string): number => readTime(utf8.encode(text));

test("times are those that Date.parse reads, cut to milliseconds", () => {
  const date = fc.date({ min: new Date("1900-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true });
  fc.assert(
    fc.property(date, fc.nat({ max: 999_999 }), (time, nanoseconds) => {
      const text = time.toISOString();
      expect(read(text)).toBe(time.getTime());
      expect(read(text.replace("Z", `${String(nanoseconds).padStart(6, "0")}Z`))).toBe(time.getTime());
      expect(read(text.replace(/\.\d+/, ""))).toBe(Math.floor(time.getTime() / 1_000) * 1_000);
    }),
  );
});

test("another zone is read, and what is no time is none", () => {
  expect(read("2026-11-28T01:02:03.5+02:00")).toBe(Date.UTC(2026, 10, 27, 23, 2, 3, 500));
  for (const text of ["", "Z", "yesterday"]) expect(read(text)).toBeNaN();
});
