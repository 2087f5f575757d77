import { expect, test } from "vitest";
import { MatchableResource } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import { ATTRIBUTE_KINDS, attributePlace, attributeRows, changedPlace, withoutEmpty } from "./attribute-kinds.js";

test("each kind of the API has its title and an example", () => {
  const known = Object.keys(MatchableResource).filter((name) => Number.isNaN(Number(name)));
  expect(ATTRIBUTE_KINDS.map(({ resource }) => resource).toSorted()).toEqual(known.toSorted());
});

test("the value of the domain is used instead of the project's; workflows have their own", () => {
  const pool = (clusterPoolName: string) => ({ clusterAssignment: { clusterPoolName } });
  const rows = attributeRows([
    { project: "p", domain: "d", workflow: "w", attributes: pool("a") },
    { project: "p", domain: "d", attributes: pool("b") },
    { project: "p", attributes: pool("c") },
    { project: "p", attributes: { executionClusterLabel: { value: "gpu" }, clusterAssignment: null as never } },
  ]);
  expect(rows.map((row) => [row.kind.title, attributePlace(row), row.overriddenBy])).toEqual([
    ["Pool of data planes", "workflow w", undefined],
    ["Pool of data planes", "domain d", undefined],
    ["Pool of data planes", "the project", "the domain"],
    ["Label of data planes", "the project", undefined],
  ]);
});

test("a value is shown without the fields that are not set", () => {
  expect(
    withoutEmpty({ defaults: { cpu: "2", gpu: "", limits: null }, tags: [], names: [{ a: "", b: 1 }], overwriteCache: false }),
  ).toEqual({
    defaults: { cpu: "2" },
    names: [{ b: 1 }],
  });
});

test("a value keeps settings that are false and entries of maps that are empty", () => {
  const value = { interruptible: false, maxParallelism: 10, labels: { values: { team: "" } }, attributes: { quota: "" } };
  expect(withoutEmpty({ ...value, overwriteCache: false })).toEqual(value);
});

test("attributes of a project, a domain and a workflow can be changed where they are", () => {
  const scope = { project: "p", domain: "d" };
  const place = { domain: "d", workflow: "", launchPlan: "" };
  expect(changedPlace(scope, { ...place, domain: "" })).toEqual({ project: "p" });
  expect(changedPlace(scope, place)).toEqual(scope);
  expect(changedPlace(scope, { ...place, workflow: "w" })).toEqual({ ...scope, workflow: "w" });
  expect(changedPlace(scope, { ...place, launchPlan: "l" })).toBeUndefined();
});
