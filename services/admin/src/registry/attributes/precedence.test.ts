import { create } from "@bufbuild/protobuf";
import { MatchableResource, MatchingAttributesSchema } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { type AttributeScope, resolveAttributes } from "../store/attribute-lookup.js";
import { storeAttributes } from "../store/attributes.js";

/**
 * Levels of attributes with their priorities: the highest priority that matches wins.
 */
const LEVELS: readonly { readonly name: string; readonly priority: number; readonly scope: AttributeScope }[] = [
  { name: "project", priority: 5, scope: { project: "p" } },
  { name: "domain", priority: 10, scope: { project: "p", domain: "d" } },
  { name: "workflow", priority: 100, scope: { project: "p", domain: "d", workflow: "w" } },
  { name: "launch plan", priority: 1000, scope: { project: "p", domain: "d", workflow: "w", launchPlan: "l" } },
];
const ASKED: readonly AttributeScope[] = [
  ...LEVELS.map(({ scope }) => scope),
  { project: "p", domain: "other" },
  { project: "p", domain: "d", workflow: "other", launchPlan: "l" },
  { project: "p", domain: "d", workflow: "w", launchPlan: "other" },
  { project: "other", domain: "d", workflow: "w", launchPlan: "l" },
];
const kind = MatchableResource.CLUSTER_ASSIGNMENT;

let database: AdminDatabase;
beforeAll(async () => {
  database = await adminDatabase();
});
afterAll(() => database.stop());

/** A level matches when each part that it names equals the requested one. */
function wanted(stored: typeof LEVELS, requestedScope: AttributeScope): string | undefined {
  const parts = ["project", "domain", "workflow", "launchPlan"] as const;
  const matching = stored.filter(({ scope }) => parts.every((part) => scope[part] === undefined || scope[part] === requestedScope[part]));
  return matching.toSorted((a, b) => b.priority - a.priority)[0]?.name;
}

test("the matching level with the highest priority applies, for any attributes and any request", async () => {
  const { db } = database;
  const wrong: unknown[] = [];
  for (let set = 0; set < 2 ** LEVELS.length; set++) {
    const stored = LEVELS.filter((_, index) => (set >> index) % 2 === 1);
    await db.query({ text: "TRUNCATE matchable_attributes" });
    // The insertion order must not matter.
    for (const { name, scope } of set % 3 === 0 ? stored : stored.toReversed()) {
      const attributes = create(MatchingAttributesSchema, { target: { case: "clusterAssignment", value: { clusterPoolName: name } } });
      await storeAttributes(db, { kind, scope, attributes, now: new Date(0) });
    }
    for (const requestedScope of ASKED) {
      const found = await resolveAttributes(db, { kind, target: "clusterAssignment" }, requestedScope);
      if (found?.clusterPoolName !== wanted(stored, requestedScope))
        wrong.push({ stored: stored.map(({ name }) => name), asked: requestedScope, found });
    }
  }
  expect(wrong).toEqual([]);
});
