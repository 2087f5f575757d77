import type { NodeStatus } from "@flyte-ts/workflow-crd";
import { expect, test } from "vitest";
import { isToldEnd, resourceNodes } from "./resource-nodes.js";

const phases = (nodes: Readonly<Record<string, NodeStatus>>) =>
  [...resourceNodes(nodes, {}).values()].map(({ uniqueId, status }) => [uniqueId, status.phase]);

test("nested nodes are found by the ids of events, with the places of their attempts", () => {
  const nodes = {
    n0: { phase: 5, attempts: 1, subNodeStatus: { a: { phase: 6 }, b: { phase: 3, subNodeStatus: { c: { phase: 5 } } } } },
  };
  expect(phases(nodes)).toEqual([
    ["n0", 5],
    ["n0-1-a", 6],
    ["n0-1-b", 3],
    ["n0-1-b-0-c", 5],
  ]);
  const found = resourceNodes(nodes, { dataDir: "s3://b/e" });
  expect(found.get("n0")?.attemptDir).toBe("s3://b/e/n0/data/1");
  expect(found.get("n0-1-b-0-c")?.attemptDir).toBe("s3://b/e/n0/data/1/b/0/c/0");
  expect(resourceNodes({}, {}).size).toBe(0);
});

test("events tell neither of items of arrays nor of arms that were not taken", () => {
  const found = resourceNodes(
    {
      array: { phase: 5, arrayNodeStatus: { phase: 3 }, subNodeStatus: { n0: { phase: 5 } } },
      branch: { phase: 5 },
      taken: { phase: 5, parentNode: "branch" },
      left: { phase: 7 },
      open: { phase: 2 },
    },
    {},
  );
  expect([...found.values()].filter(isToldEnd).map(({ specNodeId }) => specNodeId)).toEqual(["array", "branch", "taken"]);
});

test("arms of branches, and of branches in arms, are told below their branch", () => {
  const told = phases({
    b: { phase: 5 },
    inner: { phase: 5, parentNode: "b" },
    leaf: { phase: 6, parentNode: "inner" },
    lost: { phase: 1, parentNode: "nowhere" },
  });
  expect(told).toEqual([
    ["b", 5],
    ["b-0-inner", 5],
    ["b-0-inner-0-leaf", 6],
    ["lost", 1],
  ]);
});
