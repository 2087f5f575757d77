import { create } from "@bufbuild/protobuf";
import { MatchableResource, MatchingAttributesSchema } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { type AttributeScope, resolveAttributesBatch, resolveAttributes } from "./attribute-lookup.js";
import { storeAttributes } from "./attributes.js";

const cluster = { kind: MatchableResource.CLUSTER_ASSIGNMENT, target: "clusterAssignment" } as const;
const label = { kind: MatchableResource.EXECUTION_CLUSTER_LABEL, target: "executionClusterLabel" } as const;

const scopes: readonly AttributeScope[] = [
  { project: "p" },
  { project: "p", domain: "d" },
  { project: "p", domain: "d", workflow: "w" },
  { project: "p", domain: "d", workflow: "w", launchPlan: "l" },
];
const others: readonly AttributeScope[] = [
  { project: "q" },
  { project: "p", domain: "e" },
  { project: "p", domain: "d", workflow: "x", launchPlan: "l" },
  { project: "p", domain: "d", launchPlan: "l" },
];

let database: AdminDatabase;
beforeAll(async () => {
  database = await adminDatabase();
  for (const scope of scopes) {
    const now = new Date(0);
    const value = { clusterPoolName: JSON.stringify(scope) };
    const attributes = create(MatchingAttributesSchema, { target: { case: cluster.target, value } });
    await storeAttributes(database.db, { kind: cluster.kind, scope, attributes, now });
  }
});
afterAll(() => database.stop());

test("batched lookups give the same results as single ones, each from its most specific level", async () => {
  const { db } = database;
  const lookups = [...scopes, ...others].flatMap((scope) => [
    { ...cluster, scope },
    { ...label, scope },
  ]);
  const together = await resolveAttributesBatch(db, Object.fromEntries(lookups.map((question, place) => [`q${place}`, question])));
  for (const [place, { kind, target, scope }] of lookups.entries()) {
    expect(together[`q${place}`]).toEqual(await resolveAttributes(db, { kind, target }, scope));
  }
  const pools = await resolveAttributesBatch(db, {
    own: { ...cluster, scope: scopes[3] as AttributeScope },
    less: { ...cluster, scope: others[2] as AttributeScope },
    none: { ...cluster, scope: others[0] as AttributeScope },
    unset: { ...label, scope: scopes[3] as AttributeScope },
  });
  expect(pools.own?.clusterPoolName).toBe(JSON.stringify(scopes[3]));
  expect(pools.less?.clusterPoolName).toBe(JSON.stringify(scopes[1]));
  expect(pools.none).toBeUndefined();
  expect(pools.unset).toBeUndefined();
});
