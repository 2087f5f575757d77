import { expect, test } from "vitest";
import { hasOnlyUpdateManagers } from "./managed-fields.js";

test.each([
  [undefined, false],
  [[], false],
  [[null], false],
  [[{}], false],
  [[{ operation: "Update" }, { operation: "Update" }], true],
  [[{ operation: "Update" }, { operation: "Apply" }], false],
])("hasOnlyUpdateManagers of %j", (record, expected) => {
  expect(hasOnlyUpdateManagers(record)).toBe(expected);
});
