import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { GraphSchema } from "@flyte-ts/idl/flytets/admin/v1/graph_pb";
import type { GraphMessage } from "./node-graph.js";
import { readGraph } from "./read-graph.js";

/** A node of a test graph. */
export interface GivenNode {
  readonly id: string;
  readonly kind?: number;
  readonly name?: string;
  readonly entity?: string;
  readonly subGraph?: number;
}

export interface GivenGraph {
  readonly nodes: readonly GivenNode[];
  readonly edges?: readonly (readonly [from: number, to: number])[];
  readonly failureNode?: number;
}

/** Writes zigzag varints, one byte after the other. */
export function varints(values: readonly number[]): Uint8Array<ArrayBuffer> {
  const bytes: number[] = [];
  for (const value of values) {
    let rest = value < 0 ? -2 * value - 1 : 2 * value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
    bytes.push(rest);
  }
  return Uint8Array.from(bytes);
}

/** Encodes graphs as admin does. */
export function encodeGraphs(graphs: readonly GivenGraph[]): Uint8Array {
  const texts: string[] = [];
  const textOf = (text = ""): number => (text === "" ? 0 : texts.includes(text) ? texts.indexOf(text) + 1 : texts.push(text));
  const written = graphs.map(({ nodes, edges = [], failureNode = -1 }): MessageInitShape<typeof GraphSchema>["graphs"] => {
    const sorted = [...edges].sort(([a, b], [c, d]) => a - c || b - d);
    const ids = nodes.map(({ id }) => new TextEncoder().encode(id));
    return [
      {
        length: nodes.length,
        idPrefix: new Uint8Array(nodes.length),
        idSuffix: Uint8Array.from([...varints(ids.map(({ length }) => length)), ...ids.flatMap((bytes) => [...bytes])]),
        kind: Uint8Array.from(nodes, ({ kind = 1 }) => kind),
        name: varints(nodes.map(({ name }) => textOf(name))),
        entity: varints(nodes.map(({ entity }) => textOf(entity))),
        subGraph: varints(nodes.map(({ subGraph = 0 }) => subGraph)),
        edges: sorted.length,
        edgeFrom: varints(sorted.map(([from], at) => from - (sorted[at - 1]?.[0] ?? 0))),
        edgeTo: varints(sorted.map(([from, to]) => to - from)),
        failureNode: failureNode + 1,
      },
    ];
  });
  return toBinary(GraphSchema, create(GraphSchema, { graphs: written.flatMap((each) => each ?? []), texts }));
}

/** Graphs as the console reads them. */
export function graphMessage(...graphs: readonly GivenGraph[]): GraphMessage {
  return readGraph(encodeGraphs(graphs));
}
