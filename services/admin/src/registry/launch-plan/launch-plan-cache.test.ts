import { create, toBinary } from "@bufbuild/protobuf";
import { LaunchPlanClosureSchema, LaunchPlanSpecSchema } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { IdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Query, Queryable } from "@flyte-ts/postgres";
import { expect, test } from "vitest";
import { LaunchPlanCache } from "./launch-plan-cache.js";

/**
 * A table of launch plans whose spec sizes in bytes are their names, and at least 100; counts the
 * reads of each.
 */
function table(maxBytes: number) {
  const reads: string[] = [];
  const query = async ({ values = [] }: Query) => {
    const [project, domain, name, version] = values.map(String);
    reads.push(String(name));
    if (name === "missing") return { rows: [], count: 0 };
    const role = "x".repeat(Number.parseInt(name ?? "", 10));
    const spec = toBinary(LaunchPlanSpecSchema, create(LaunchPlanSpecSchema, { role }));
    const closure = toBinary(LaunchPlanClosureSchema, create(LaunchPlanClosureSchema));
    const at = new Date(0);
    return {
      rows: [{ id: 1n, project, domain, name, version, workflow_id: 2n, spec, closure, state: 0, created_at: at, updated_at: at }],
      count: 1,
    };
  };
  const known = new LaunchPlanCache({ query } as unknown as Queryable, maxBytes);
  const find = (name: string, version = "v") => known.find(create(IdentifierSchema, { project: "p", domain: "d", name, version }));
  return { reads, find };
}

test("a version is read once, independent of others of the same name, and a missing one is read again", async () => {
  const { reads, find } = table(10_000);
  const [first, again] = [await find("100"), await find("100")];
  expect(first).toMatchObject({ rowId: 1n, workflowRowId: 2n, launchPlan: { id: { name: "100", version: "v" } } });
  expect(again).toBe(first);
  expect((await find("100", "w"))?.launchPlan.id?.version).toBe("w");
  expect([await find("missing"), await find("missing")]).toEqual([undefined, undefined]);
  expect(reads).toEqual(["100", "100", "missing", "missing"]);
});

test("the cache is bounded in bytes: the least recently used entry is evicted, and one larger than the cache is not stored", async () => {
  const { reads, find } = table(1_000);
  for (const name of ["400-a", "400-b", "400-a", "400-c", "400-a", "2000", "400-a"]) await find(name);
  expect(reads).toEqual(["400-a", "400-b", "400-c", "2000"]);
});
