import { create } from "@bufbuild/protobuf";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { base32 } from "./base32.js";
import { expirySeconds } from "./expiry.js";

test.each([
  ["", ""],
  ["f", "MY======"],
  ["fo", "MZXQ===="],
  ["foo", "MZXW6==="],
  ["foob", "MZXW6YQ="],
  ["fooba", "MZXW6YTB"],
  ["foobar", "MZXW6YTBOI======"],
])("%j in base 32 equals RFC 4648", (text, expected) => {
  expect(base32(Buffer.from(text))).toBe(expected);
});

describe("the lifetime of a signed URL", () => {
  const duration = (seconds: number, nanos = 0) => create(DurationSchema, { seconds: BigInt(seconds), nanos });

  test("is the maximum without a requested duration", () => expect(expirySeconds(undefined, 3600)).toBe(3600));
  test("is the requested duration in whole seconds", () => {
    expect(expirySeconds(duration(60), 3600)).toBe(60);
    expect(expirySeconds(duration(0, 1), 3600)).toBe(1);
    expect(expirySeconds(duration(3600), 3600)).toBe(3600);
  });
  test.each([duration(0), duration(-1), duration(3600, 1), duration(999_999)])("never exceeds the limits", (duration) => {
    expect(() => expirySeconds(duration, 3600)).toThrow(/expires_in/);
  });
});
