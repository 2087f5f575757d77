import { describe, expect, test } from "vitest";
import { placementSchema } from "../config-schema.js";
import { candidatesFor, isPlacementNeeded, pickCluster, type PlacedCluster, type PlacementRequest } from "./placement-policy.js";

const cluster = (name: string, more: Partial<PlacedCluster> = {}): PlacedCluster => ({ name, weight: 1, ...more });
const rules = (given: object = {}) => placementSchema.parse(given);
const names = (clusters: readonly PlacedCluster[], given: object, wish: Partial<PlacementRequest> = {}) =>
  candidatesFor(clusters, rules(given), { label: "", pool: "", ...wish }).map(({ name, weight }) => `${name}:${weight}`);

describe("candidate clusters", () => {
  const clusters = [cluster("west", { weight: 3 }), cluster("east"), cluster("gpu", { weight: 0 }), cluster("old", { enabled: false })];

  test("are all enabled clusters with a weight", () => expect(names(clusters, {})).toEqual(["east:1", "west:3"]));

  test("have equal weights when no cluster has a weight", () =>
    expect(names([cluster("b", { weight: 0 }), cluster("a", { weight: 0 })], {})).toEqual(["a:1", "b:1"]));

  test("are those of the execution's label, with the weights of the label", () => {
    const labelClusterMap = { gpu: [{ id: "gpu" }], both: [{ id: "west", weight: 0.2 }, { id: "gpu", weight: 0.8 }, { id: "east" }] };
    expect(names(clusters, { labelClusterMap }, { label: "gpu" })).toEqual(["gpu:1"]);
    expect(names(clusters, { labelClusterMap }, { label: "both" })).toEqual(["gpu:0.8", "west:0.2"]);
  });

  test("are those of the default label for an unknown label, and all without a default label", () => {
    const labelClusterMap = { gpu: [{ id: "gpu" }], gone: [{ id: "old" }] };
    const given = { labelClusterMap, defaultExecutionLabel: "gpu" };
    for (const label of ["unknown", "gone", "", "constructor"]) expect(names(clusters, given, { label })).toEqual(["gpu:1"]);
    expect(names(clusters, { labelClusterMap }, { label: "gone" })).toEqual(["east:1", "west:3"]);
  });

  test("are restricted to the pool, if clusters have pools", () => {
    const pooled = [cluster("a", { pools: ["gold"] }), cluster("b", { weight: 0, pools: ["gold", "silver"] }), cluster("c")];
    expect(names(clusters, {}, { pool: "gold" })).toEqual(["east:1", "west:3"]);
    expect(names(pooled, {}, { pool: "gold" })).toEqual(["a:1"]);
    expect(names(pooled, {}, { pool: "silver" })).toEqual(["b:1"]);
    expect(names(pooled, {}, { pool: "lead" })).toEqual([]);
    expect(names(pooled, { labelClusterMap: { c: [{ id: "c" }] } }, { label: "c", pool: "gold" })).toEqual([]);
    expect(names(pooled, {})).toEqual(["a:1", "c:1"]);
  });
});

test("a single cluster without rules needs no placement", () => {
  expect(isPlacementNeeded([cluster("only")], rules())).toBe(false);
  expect(isPlacementNeeded([cluster("only")], rules({ labelClusterMap: { a: [{ id: "only" }] } }))).toBe(true);
  expect(isPlacementNeeded([cluster("a"), cluster("b")], rules())).toBe(true);
});

test("executions are distributed by weight, and each has one fixed cluster", () => {
  const candidates = [
    { name: "east", weight: 3 },
    { name: "west", weight: 1 },
  ];
  const executions = Array.from({ length: 20_000 }, (_, i) => `f${i.toString(36)}x${i % 7}`);
  const east = executions.filter((name) => pickCluster(candidates, name) === "east").length;
  expect(east / executions.length).toBeGreaterThan(0.73);
  expect(east / executions.length).toBeLessThan(0.77);
  for (const name of executions.slice(0, 100)) expect(pickCluster(candidates, name)).toBe(pickCluster(candidates, name));
  expect(pickCluster([], "any")).toBeUndefined();
});
