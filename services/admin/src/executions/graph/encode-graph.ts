import { createHash } from "node:crypto";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { isReservedNode } from "@flyte-ts/domain/graph";
import { StoredMessageError } from "@flyte-ts/input-limits";
import { ByteSink } from "../columns/byte-sink.js";
import { encodeIds } from "../columns/encode-ids.js";
import { TextTable } from "../columns/text-table.js";
import { readClosure, readEdges, type SourceGraph, type SourceNode } from "./read-closure.js";

/** Nodes and edges of one answer, at most. */
const MAX_NODES = 500_000;
const MAX_EDGES = 2_000_000;

const GRAPH = { digest: 1, texts: 2, graphs: 3 } as const;
const FIELDS = {
  length: 1,
  idPrefix: 2,
  idSuffix: 3,
  kind: 4,
  name: 5,
  entity: 6,
  subGraph: 7,
  edges: 8,
  edgeFrom: 9,
  edgeTo: 10,
  failureNode: 11,
} as const;

/**
 * Encodes the graphs of an encoded closure as flytets.admin.v1.Graph.
 *
 * @throws StoredMessageError for malformed bytes, and beyond the limits of nodes and edges.
 */
export function encodeGraph(closure: Uint8Array): Uint8Array {
  const graphs = readClosure(closure);
  const writer = new BinaryWriter().tag(GRAPH.digest, WireType.LengthDelimited).bytes(createHash("sha256").update(closure).digest());
  const encoder = new GraphEncoder(graphs);
  const encoded = encoder.encode();
  for (const text of encoder.texts.from(0)) writer.tag(GRAPH.texts, WireType.LengthDelimited).string(text);
  for (const bytes of encoded) writer.tag(GRAPH.graphs, WireType.LengthDelimited).bytes(bytes);
  return writer.finish();
}

class GraphEncoder {
  readonly texts = new TextTable();
  /** Graphs of the answer; those of branches are added when their nodes are met. */
  readonly #graphs: SourceGraph[];
  readonly #indexOf: ReadonlyMap<string, number>;
  #nodes = 0;
  #edges = 0;

  constructor(graphs: SourceGraph[]) {
    this.#graphs = graphs;
    this.#indexOf = new Map(graphs.map(({ workflow }, index) => [workflow, index]));
  }

  encode(): Uint8Array[] {
    const encoded: Uint8Array[] = [];
    for (let at = 0; at < this.#graphs.length; at++) encoded.push(this.#encodeGraph(this.#graphs[at] as SourceGraph));
    return encoded;
  }

  #encodeGraph(graph: SourceGraph): Uint8Array {
    const nodes = graph.nodes.filter(({ id }) => !isReservedNode(id));
    const failureNode = graph.failureNode === undefined ? 0 : nodes.push(graph.failureNode);
    this.#nodes += nodes.length;
    if (this.#nodes > MAX_NODES) throw new StoredMessageError(`the workflow has more than ${MAX_NODES} nodes`);
    const writer = new BinaryWriter();
    const number = (field: number, value: number): void => void writer.tag(field, WireType.Varint).uint32(value);
    const column = (field: number, values: Uint8Array): void => {
      if (values.some((byte) => byte !== 0)) writer.tag(field, WireType.LengthDelimited).bytes(values);
    };
    const varints = (valueOf: (node: SourceNode) => number): Uint8Array => {
      const sink = new ByteSink(nodes.length);
      for (const node of nodes) sink.varint(valueOf(node));
      return sink.written();
    };
    number(FIELDS.length, nodes.length);
    const { prefixes, suffixes } = encodeIds(nodes.length, (index) => nodes[index]?.id ?? "");
    column(FIELDS.idPrefix, prefixes);
    column(FIELDS.idSuffix, suffixes);
    column(
      FIELDS.kind,
      Uint8Array.from(nodes, ({ kind }) => kind),
    );
    column(
      FIELDS.name,
      varints(({ name }) => this.texts.numberOf(name)),
    );
    column(
      FIELDS.entity,
      varints(({ entity }) => this.texts.numberOf(entity)),
    );
    column(
      FIELDS.subGraph,
      varints((node) => this.#subGraphOf(node)),
    );
    const { count, from, to } = this.#encodeEdges(graph, nodes);
    number(FIELDS.edges, count);
    column(FIELDS.edgeFrom, from);
    column(FIELDS.edgeTo, to);
    number(FIELDS.failureNode, failureNode);
    return writer.finish();
  }

  /** Index of the graph that a node contains, 0 for none. */
  #subGraphOf({ workflow, arms }: SourceNode): number {
    if (arms.length > 0) return this.#graphs.push({ workflow: "", nodes: arms, failureNode: undefined, downstream: [] }) - 1;
    return workflow === "" ? 0 : (this.#indexOf.get(workflow) ?? 0);
  }

  #encodeEdges(graph: SourceGraph, nodes: readonly SourceNode[]): { count: number; from: Uint8Array; to: Uint8Array } {
    const rows = new Map<string, number>();
    for (const [row, { id }] of nodes.entries()) rows.set(id, row);
    const edges: number[] = [];
    readEdges(
      graph,
      (id) => rows.get(id),
      (from, to) => {
        // Both rows in one number, so that edges sort without objects.
        edges.push(from * MAX_NODES + to);
        if (edges.length + this.#edges > MAX_EDGES) throw new StoredMessageError(`the workflow has more than ${MAX_EDGES} edges`);
      },
    );
    this.#edges += edges.length;
    const [froms, tos] = [new ByteSink(edges.length), new ByteSink(edges.length)];
    let before = 0;
    for (const edge of Float64Array.from(edges).sort()) {
      const from = Math.floor(edge / MAX_NODES);
      froms.varint(from - before);
      tos.varint((edge % MAX_NODES) - from);
      before = from;
    }
    return { count: edges.length, from: froms.written(), to: tos.written() };
  }
}
