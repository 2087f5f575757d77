import { expect, test } from "vitest";
import { costPerNode, costTable, separateCosts, sizingTable } from "./cost-model.js";

const counters = (executions: number, nodes: number) => ({
  "cpu admin": executions * (4 + nodes),
  "cpu postgres": executions * (2 + 0.5 * nodes),
  "Kubernetes writes": executions * 3,
});
const sample = (executions: number, nodes: number) => ({ executions, nodes, counters: counters(executions, nodes) });

test("costs of executions and of nodes are separated by samples of different sizes", () => {
  const { perExecution, perNode } = separateCosts(sample(100, 1), sample(50, 21));
  expect(perExecution).toEqual({ "cpu admin": 4, "cpu postgres": 2, "Kubernetes writes": 3 });
  expect(perNode).toEqual({ "cpu admin": 1, "cpu postgres": 0.5, "Kubernetes writes": 0 });
});

test("a cost is never negative, and samples of one size are refused", () => {
  const cost = separateCosts({ executions: 1, nodes: 1, counters: { x: 10 } }, { executions: 1, nodes: 3, counters: { x: 4 } });
  expect(cost).toEqual({ perNode: { x: 0 }, perExecution: { x: 13 } });
  expect(() => separateCosts(sample(1, 2), sample(9, 2))).toThrow(/same number of nodes/);
});

test("tables tell costs, and the processes that rates need", () => {
  const cost = separateCosts(sample(100, 1), sample(50, 21));
  expect(costPerNode(cost, 10)["cpu admin"]).toBeCloseTo(1.4);
  expect(costTable(cost)).toContain("| admin, ms of processor time | 4 | 1 |");
  const table = sizingTable(cost, { rates: [10, 1_000], nodesPerExecution: 10 });
  // 1,000 nodes per second take 1.4 cores, and a process counts with 0.72.
  expect(table).toContain("| admin: processes (cores) | 1 (0.014) | 2 (1.4) |");
  expect(table).toContain("| postgres: cores | 0.007 | 0.7 |");
  expect(table).toContain("| Kubernetes: writes per second | 3 | 300 |");
});
