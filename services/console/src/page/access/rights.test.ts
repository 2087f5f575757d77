import { expect, test } from "vitest";
import { placeText, rightsOf } from "./rights.js";

const BINDINGS = [
  { subject: "ann", role: "viewer", project: "*", domain: "*" },
  { subject: "ann", role: "runner", project: "p", domain: "d" },
  { group: "owners", role: "admin", project: "p", domain: "*" },
  { group: "ops", role: "runner", project: "p", domain: "d" },
  { subject: "bob", role: "admin", project: "*", domain: "*" },
];

test("a person has the roles of the subject and of the groups, with their reasons", () => {
  expect(rightsOf(BINDINGS, { subject: "ann", groups: ["ops"] })).toEqual([
    { role: "runner", project: "p", domain: "d", reasons: ["given to the subject", "member of ops"] },
    { role: "viewer", project: "*", domain: "*", reasons: ["given to the subject"] },
  ]);
});

test("a role that a greater one includes is left out", () => {
  expect(rightsOf(BINDINGS, { subject: "ann", groups: ["owners", "ops"] }).map(({ role, project }) => [role, project])).toEqual([
    ["admin", "p"],
    ["viewer", "*"],
  ]);
});

test("an unknown person has no role, and an unknown role of a newer server is left out", () => {
  expect(rightsOf([...BINDINGS, { subject: "eve", role: "auditor", project: "p", domain: "d" }], { subject: "eve", groups: [] })).toEqual(
    [],
  );
});

test.each([
  [{ project: "*", domain: "*" }, "all projects"],
  [{ project: "p", domain: "*" }, "p, all domains"],
  [{ project: "p", domain: "d" }, "p / d"],
])("the place %j reads %s", (place, text) => expect(placeText(place)).toBe(text));
