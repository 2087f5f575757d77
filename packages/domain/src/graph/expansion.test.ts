import { describe, expect, test } from "vitest";
import { checkExpansion, expansionOf, type GraphUse } from "./expansion.js";

const graph = (name: string, nodes: number, ...subWorkflows: string[]): GraphUse => ({ name, nodes, subWorkflows });
const among =
  (...graphs: readonly GraphUse[]) =>
  (key: string) =>
    graphs.find(({ name }) => name === key);

/** Each of `count` sub-workflows runs the next one twice. */
function doubling(count: number): { root: GraphUse; find: (key: string) => GraphUse | undefined } {
  const graphs = new Map<string, GraphUse>();
  for (let i = 0; i < count; i++) graphs.set(`s${i}`, graph(`s${i}`, 2, ...(i + 1 < count ? [`s${i + 1}`, `s${i + 1}`] : [])));
  return { root: graph("w", 1, "s0"), find: (key) => graphs.get(key) };
}

describe("node instances", () => {
  test("are counted as the graph's own nodes without sub-workflows", () => {
    expect(expansionOf(graph("w", 7), among())).toEqual({ instances: 7, depth: 1 });
  });

  test("are counted once for each node that runs their sub-workflow", () => {
    expect(expansionOf(graph("w", 3, "a", "a", "b"), among(graph("a", 5, "b"), graph("b", 2)))).toEqual({
      instances: 3 + 2 * (5 + 2) + 2,
      depth: 3,
    });
  });

  test("are counted without expansion for 40 sub-workflows that each run the next twice", () => {
    const { root, find } = doubling(40);
    let looked = 0;
    const expansion = expansionOf(root, (key) => {
      looked++;
      return find(key);
    });
    expect(expansion).toEqual({ instances: 1 + 2 * (2 ** 40 - 1), depth: 41 });
    expect(looked).toBe(40);
  });

  test("are counted for a chain 20,000 levels deep", () => {
    const find = (key: string) => graph(key, 1, ...(Number(key) < 20_000 ? [String(Number(key) + 1)] : []));
    expect(expansionOf(graph("w", 1, "1"), find)).toEqual({ instances: 20_001, depth: 20_001 });
  });

  test("are not counted for an unknown sub-workflow", () => {
    expect(expansionOf(graph("w", 3, "gone", "gone"), among())).toEqual({ instances: 3, depth: 1 });
  });

  test("are refused with the cycle for a sub-workflow that contains itself", () => {
    const find = among(graph("a", 1, "b"), graph("b", 1, "a"));
    expect(() => expansionOf(graph("w", 1, "a"), find)).toThrow("sub-workflow [a] contains itself: a -> b -> a");
    expect(() => expansionOf(graph("w", 1, "c"), among(graph("c", 1, "c")))).toThrow("sub-workflow [c] contains itself: c -> c");
  });
});

describe("limits", () => {
  const limits = { maxInstances: 100, maxDepth: 3 };

  test("a graph at the limit is accepted, and one above it is refused with the rule and the count", () => {
    checkExpansion("w", { instances: 100, depth: 3 }, limits);
    expect(() => checkExpansion("w", { instances: 101, depth: 1 }, limits)).toThrow(
      "workflow [w] comes to 101 node instances when its sub-workflows are expanded, the limit is 100",
    );
    expect(() => checkExpansion("w", { instances: 4, depth: 4 }, limits)).toThrow(
      "workflow [w] nests sub-workflows 4 deep, the limit is 3",
    );
  });

  test("a limit of 0 means no limit", () => {
    const boundless = { maxInstances: 0, maxDepth: 0 };
    expect(() => checkExpansion("w", { instances: Infinity, depth: 1e9 }, boundless)).not.toThrow();
  });
});
