import { create } from "@bufbuild/protobuf";
import { type Sort, SortSchema } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { RpcError } from "@flyte-ts/rpc";
import fc from "fast-check";
import { expect, test } from "vitest";
import { launchPlanEntity } from "../../registry/store/launch-plans.js";
import type { ListEntity } from "./entity.js";
import { MAX_PAGE, planList, selectPage, selectPagePrepared } from "./plan.js";

const request = { rpc: "ListLaunchPlans", filters: "", limit: 10, token: "" };
const plan = (filters: string) => planList(launchPlanEntity, { ...request, filters });

test("every documented function becomes a condition with a parameter", () => {
  const { where, values, joins } = planList(launchPlanEntity, {
    ...request,
    equal: { project: "p", domain: "", name: undefined },
    filters:
      "eq(name,a)+ne(version,b)+gt(state,0)+gte(state,1)+lt(state,2)+lte(state,3)+contains(name,c)+not_like(name,d%)" +
      "+value_in(workflow.name,e;f)+value_not_in(schedule_type,NONE)",
  });
  expect(where).toBe(
    "launch_plans.project = $1 AND launch_plans.name = $2::text AND launch_plans.version <> $3::text" +
      " AND launch_plans.state > $4::int4 AND launch_plans.state >= $5::int4 AND launch_plans.state < $6::int4" +
      " AND launch_plans.state <= $7::int4 AND launch_plans.name LIKE $8 AND launch_plans.name NOT LIKE $9" +
      " AND workflows.name = ANY($10::text[]) AND launch_plans.schedule_type <> $11::text",
  );
  expect(values).toEqual(["p", "a", "b", "0", "1", "2", "3", "%c%", "d%", ["e", "f"], "NONE"]);
  expect(joins).toBe(" LEFT JOIN workflows ON launch_plans.workflow_id = workflows.id");
});

test.each([
  ["eq(nosuch,1)", "launch_plan.nosuch"],
  ["eq(task.name,x)", "task"],
  ["eq(state,ACTIVE)", "state"],
  ["value_in(state,1;x)", "state"],
  ["eq(created_at,monday)", "created_at"],
  ["contains(state,1)", "state"],
  ["eq(name,a;b)", "one value"],
  ["eq(spec,x)", "spec"],
  ["like(name,x)", "like"],
  ["not_like(name,a\\)", "pattern"],
  ["eq(name,\0)", "NUL"],
  ["eq(workflow.constructor,x)", "constructor"],
  ["eq(toString,x)", "toString"],
  ["name=x", "filters"],
])("%j is refused with its field or function", (filters, name) => {
  expect(() => plan(filters)).toThrow(RpcError);
  expect(() => plan(filters)).toThrow(name);
});

const sorted = (key: string, direction = 1) => create(SortSchema, { key, direction });

test.each<[string, Partial<typeof request> & { sortBy?: Sort }, string]>([
  ["limit 0", { limit: 0 }, "limit"],
  ["a token that is not an offset", { token: "x" }, "x for ListLaunchPlans"],
  ["an unknown sort key", { sortBy: sorted("name; drop table tasks") }, "invalid sort key"],
  ["an empty sort key", { sortBy: sorted("") }, "invalid sort key ''"],
  ["an unknown direction", { sortBy: sorted("name", 7) }, "direction"],
])("%s is refused", (_, change, text) => {
  expect(() => planList(launchPlanEntity, { ...request, ...change })).toThrow(text);
});

test("every order is made total", () => {
  expect(planList(launchPlanEntity, request).orderBy).toBe("launch_plans.id");
  expect(planList(launchPlanEntity, { ...request, sortBy: sorted("name", 0) }).orderBy).toBe(
    "launch_plans.name DESC, launch_plans.id DESC",
  );
  expect(planList(launchPlanEntity, { ...request, sortBy: sorted("id") }).orderBy).toBe("launch_plans.id ASC");
});

test("columns with one value for all rows and encoded messages cannot be sorted by", () => {
  const equal = { project: "p", name: "" };
  for (const key of ["project", "deleted_at", "closure"]) {
    expect(planList(launchPlanEntity, { ...request, equal, sortBy: sorted(key, 0) }).orderBy).toBe("launch_plans.id DESC");
  }
  expect(planList(launchPlanEntity, { ...request, equal, sortBy: sorted("name") }).orderBy).toBe(
    "launch_plans.name ASC, launch_plans.id ASC",
  );
});

test("a filter on a column whose value the request fixes adds no condition on rows", () => {
  const equal = { project: "p" };
  const { where, values } = planList(launchPlanEntity, {
    ...request,
    equal,
    constants: { state: 0 },
    filters: "ne(project,q)+value_in(state,0;1)",
  });
  expect(where).toBe("launch_plans.project = $1 AND $2::text <> $3::text AND $4::int4 = ANY($5::int4[])");
  expect(values).toEqual(["p", "p", "q", 0, ["0", "1"]]);
});

test("a page has at most ten thousand rows", () => {
  const { text, values } = selectPage(planList(launchPlanEntity, { ...request, limit: 4_000_000_000, token: "5" }), "1");
  expect(text).toBe("SELECT 1 FROM launch_plans WHERE true ORDER BY launch_plans.id LIMIT $1 OFFSET $2");
  expect(values).toEqual([MAX_PAGE, 5]);
});

test("filters on a table with several matching rows share one EXISTS", () => {
  const entity: ListEntity = {
    ...launchPlanEntity,
    related: {
      execution_tag: {
        kind: "exists",
        table: "tags",
        columns: { key: { type: "text" }, value: { type: "text" } },
        on: "tags.plan = launch_plans.id",
      },
    },
  };
  const { where, joins } = planList(entity, { ...request, filters: "eq(execution_tag.key,a)+eq(name,n)+eq(execution_tag.value,b)" });
  expect(joins).toBe("");
  expect(where).toBe(
    "launch_plans.name = $1::text AND EXISTS (SELECT 1 FROM tags WHERE tags.plan = launch_plans.id AND tags.key = $2::text AND tags.value = $3::text)",
  );
});

test("no text of a client reaches the SQL, for any request", () => {
  const word = fc.string({
    unit: fc.constantFrom("e", "q", "name", "state", "workflow.", "'", '"', ";", "(", ")", ",", "+", "$1", "--", " ", "1"),
  });
  const known = /^[a-z_]+$/;
  fc.assert(
    fc.property(word, word, word, (filters, key, token) => {
      try {
        const { text, values } = selectPage(planList(launchPlanEntity, { ...request, filters, token, sortBy: sorted(key) }), "1");
        expect(text).not.toMatch(/['"]|--/);
        expect(text.match(/\$\d+/g) ?? []).toHaveLength(values.length);
        expect(key).toMatch(known);
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
      }
    }),
    { numRuns: 3_000 },
  );
});

test("a first page of a usual size uses a prepared statement, whose name identifies one SQL text", () => {
  const page = (given: Partial<typeof request>) => selectPagePrepared(planList(launchPlanEntity, { ...request, ...given }), "1");
  const first = page({ limit: 100 });
  expect(first.name).toMatch(/^list-[0-9a-f]{40}$/);
  expect(first.text).toMatch(/ LIMIT 100$/);
  expect(first.values).toEqual([]);
  expect(page({ limit: 100 })).toEqual(first);
  expect(page({ limit: 10 }).name).not.toBe(first.name);
  for (const other of [page({ limit: 99 }), page({ limit: 100, token: "5" })]) expect(other.name).toBeUndefined();
});
