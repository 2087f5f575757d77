import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { NodeExecutionClosureSchema } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import { CatalogCacheStatus, CatalogMetadataSchema } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { NodeStatus } from "@flyte-ts/workflow-crd/status";
import { expect, test } from "vitest";
import { endOfNode, isReportedEnd, type ResourceNode, resourceNodes } from "./resource-nodes.js";

const phases = (nodes: Readonly<Record<string, NodeStatus>>) =>
  [...resourceNodes(nodes, {}).values()].map(({ uniqueId, status }) => [uniqueId, status.phase]);

test("nested nodes are listed by their event ids with the directories of their attempts", () => {
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

test("events report neither array items nor arms that were not taken", () => {
  const found = resourceNodes(
    {
      array: { phase: 2, arrayNodeStatus: { phase: 1 }, subNodeStatus: { n0: { phase: 5 } } },
      nodes: { phase: 5, arrayNodeStatus: { phase: 3 }, subNodeStatus: { n1: { phase: 5 } } },
      branch: { phase: 5 },
      taken: { phase: 5, parentNode: "branch" },
      left: { phase: 7 },
      open: { phase: 2 },
    },
    {},
  );
  expect([...found.values()].filter(isReportedEnd).map(({ specNodeId }) => specNodeId)).toEqual(["nodes", "n1", "branch", "taken"]);
});

test("arms of branches, also nested ones, are listed below their branch", () => {
  const reported = phases({
    b: { phase: 5 },
    inner: { phase: 5, parentNode: "b" },
    leaf: { phase: 6, parentNode: "inner" },
    lost: { phase: 1, parentNode: "nowhere" },
  });
  expect(reported).toEqual([
    ["b", 5],
    ["b-0-inner", 5],
    ["b-0-inner-0-leaf", 6],
    ["lost", 1],
  ]);
});

test("the end of a nested node has outputs, times, cache status, deck and parent", () => {
  const key = create(CatalogMetadataSchema, { datasetId: { resourceType: ResourceType.TASK, name: "t" } });
  const nodes = resourceNodes(
    {
      outer: {
        phase: 5,
        subNodeStatus: {
          n0: {
            phase: 5,
            startedAt: "2026-03-01T10:00:00Z",
            stoppedAt: "2026-03-01T10:00:05Z",
            outputs: "CgA=",
            deckUri: "deck.html",
            catalog: {
              status: CatalogCacheStatus.CACHE_PUT_FAILURE,
              key: Buffer.from(toBinary(CatalogMetadataSchema, key)).toString("base64"),
            },
          },
        },
      },
    },
    { dataDir: "s3://b/e" },
  );
  const options = { inferredReason: "why", now: 0n, project: "p", domain: "d" };
  const end = endOfNode(nodes.get("outer-0-n0") as ResourceNode, options);
  expect(end).toMatchObject({
    startedAt: BigInt(Date.parse("2026-03-01T10:00:00Z")) * 1_000_000n,
    occurredAt: BigInt(Date.parse("2026-03-01T10:00:05Z")) * 1_000_000n,
    outputs: new Uint8Array([10, 0]),
    deckUri: "s3://b/e/outer/data/0/n0/0/deck.html",
    target: { isExecution: false, cacheStatus: "CACHE_PUT_FAILURE" },
    parentNodeId: "outer",
  });
  expect(endOfNode(nodes.get("outer") as ResourceNode, options).isParent).toBe(true);
});

test("the end of a node that started an execution names that execution", () => {
  const nodes = resourceNodes({ n0: { phase: 6, childExecution: "child", error: { code: "C", message: "m" } } }, {});
  const { target, error } = endOfNode(nodes.get("n0") as ResourceNode, { inferredReason: "why", now: 0n, project: "p", domain: "d" });
  expect(error?.code).toBe("C");
  expect(target?.isExecution).toBe(true);
  const closure = fromBinary(NodeExecutionClosureSchema, target?.bytes ?? new Uint8Array());
  expect(closure.targetMetadata).toMatchObject({
    case: "workflowNodeMetadata",
    value: { executionId: { project: "p", domain: "d", name: "child" } },
  });
});

test.each([5, 10])("a node that ended in phase %i after a failed attempt has no error", (phase) => {
  const nodes = resourceNodes({ n0: { phase, attempts: 1, outputs: "CgA=", error: { code: "C", message: "m" } } }, {});
  const end = endOfNode(nodes.get("n0") as ResourceNode, { inferredReason: "why", now: 0n, project: "p", domain: "d" });
  expect(end.error).toBeUndefined();
  expect(end.outputs).toEqual(new Uint8Array([10, 0]));
});
