import { expect, test } from "vitest";
import { uuidOf } from "./uuid-of.js";

test("the same text has the same UUID, another text another", () => {
  expect(uuidOf("p/d/e/n0/0")).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(uuidOf("p/d/e/n0/0")).toBe(uuidOf("p/d/e/n0/0"));
  expect(uuidOf("p/d/e/n0/1")).not.toBe(uuidOf("p/d/e/n0/0"));
});
