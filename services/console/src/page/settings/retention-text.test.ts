import { expect, test } from "vitest";
import { daysToKeep, keepText, policyPlace } from "./retention-text.js";

test("a policy says how long it keeps executions, and where it comes from", () => {
  expect([keepText({}), keepText({ keep: "2592000s" }), keepText({ keep: "7200s" })]).toEqual(["forever", "30 days", "2 h"]);
  expect(policyPlace({ project: "p", domain: "d" }, false)).toBe("domain d");
  expect(policyPlace({ project: "p" }, false)).toBe("project p");
  expect(policyPlace({}, false)).toBe("all projects");
  expect(policyPlace({}, true)).toContain("configuration");
});

test.each([
  ["30", "2592000s"],
  ["0.5", "43200s"],
  [" 1 ", "86400s"],
  ["0", undefined],
  ["-3", undefined],
  ["1e9", undefined],
  ["soon", undefined],
])("%j days are %j", (text, expected) => expect(daysToKeep(text)).toBe(expected));
