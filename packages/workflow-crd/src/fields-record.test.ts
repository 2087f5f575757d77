import { expect, test } from "vitest";
import { isRecordOfUpdates } from "./fields-record.js";

test.each([
  [undefined, false],
  [[], false],
  [[null], false],
  [[{}], false],
  [[{ operation: "Update" }, { operation: "Update" }], true],
  [[{ operation: "Update" }, { operation: "Apply" }], false],
])("%j", (record, expected) => {
  expect(isRecordOfUpdates(record)).toBe(expected);
});
