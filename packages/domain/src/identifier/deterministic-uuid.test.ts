import { expect, test } from "vitest";
import { deterministicUuid } from "./deterministic-uuid.js";

test("equal texts have equal UUIDs, and different texts different ones", () => {
  expect(deterministicUuid("p/d/e/n0/0")).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(deterministicUuid("p/d/e/n0/0")).toBe(deterministicUuid("p/d/e/n0/0"));
  expect(deterministicUuid("p/d/e/n0/1")).not.toBe(deterministicUuid("p/d/e/n0/0"));
});
