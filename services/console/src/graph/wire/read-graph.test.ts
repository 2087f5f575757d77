import fc from "fast-check";
import { expect, test } from "vitest";
import { MalformedMessageError } from "../../wire/read-varints.js";
import { encodeGraphs, type GivenGraph, graphMessage } from "./graph-message.fixture.js";
import { readGraph } from "./read-graph.js";

const text = fc.string({ unit: "grapheme", maxLength: 8 });
const graphs: fc.Arbitrary<GivenGraph> = fc
  .array(fc.record({ id: text, kind: fc.nat({ max: 8 }), name: text, entity: text }), { minLength: 1, maxLength: 12 })
  .chain((nodes) => {
    const row = fc.nat({ max: nodes.length - 1 });
    return fc.record({
      nodes: fc.constant(nodes),
      edges: fc.uniqueArray(fc.tuple(row, row), { selector: String, maxLength: 20 }),
      failureNode: fc.integer({ min: -1, max: nodes.length - 1 }),
    });
  });

test("a graph read is what protobuf-es wrote", () => {
  fc.assert(
    fc.property(graphs, (given) => {
      const { texts, graphs: read } = graphMessage(given);
      const graph = read[0];
      const name = (at: number | undefined): string => texts[(at ?? 0) - 1] ?? "";
      expect(
        graph?.ids.map((id, row) => ({ id, kind: graph.kind[row], name: name(graph.name[row]), entity: name(graph.entity[row]) })),
      ).toEqual(given.nodes);
      const edges = [...(graph?.from ?? [])].map((from, edge) => [from, graph?.to[edge]]);
      expect(edges.map(String).sort()).toEqual((given.edges ?? []).map(String).sort());
      expect(graph?.failureNode).toBe(given.failureNode);
    }),
  );
});

test("bytes that are no graph, and graphs that refer to what they lack, are refused", () => {
  const bytes = encodeGraphs([{ nodes: [{ id: "a" }, { id: "b" }], edges: [[0, 1]] }]);
  const errors = Array.from({ length: bytes.length - 1 }, (_, at) => errorOf(() => readGraph(bytes.subarray(0, at + 1))));
  expect(errors.filter((error) => error !== undefined && !(error instanceof MalformedMessageError))).toEqual([]);
  expect(() => graphMessage({ nodes: [{ id: "a" }], edges: [[0, 1]] })).toThrow("an edge has no end");
  expect(() => graphMessage({ nodes: [{ id: "a", subGraph: 3 }] })).toThrow("there is no graph 3");
});

function errorOf(run: () => unknown): unknown {
  try {
    run();
    return undefined;
  } catch (error) {
    return error;
  }
}
