import { readFields } from "../../wire/read-fields.js";
import { readSuffixes } from "../../wire/read-ids.js";
import { MalformedMessageError, readDeltas, readVarints } from "../../wire/read-varints.js";
import type { GraphMessage, NodeGraph } from "./node-graph.js";

/** Numbers of the fields of NodeGraph in idl/flytets/admin/v1/graph.proto. */
const FIELDS = [
  "length",
  "idPrefix",
  "idSuffix",
  "kind",
  "name",
  "entity",
  "subGraph",
  "edges",
  "edgeFrom",
  "edgeTo",
  "failureNode",
] as const;
type Field = (typeof FIELDS)[number];
const EMPTY = new Uint8Array();
const utf8 = new TextDecoder();

/**
 * Reads an encoded Graph.
 *
 * @throws MalformedMessageError when the bytes are no such message, or refer to what it lacks.
 */
export function readGraph(bytes: Uint8Array): GraphMessage {
  const texts: string[] = [];
  const graphs: NodeGraph[] = [];
  readFields(bytes, {
    bytes: (field, value) => {
      if (field === 2) texts.push(utf8.decode(value));
      if (field === 3) graphs.push(readNodeGraph(value));
    },
  });
  for (const { subGraph } of graphs)
    for (const index of subGraph) if (index < 0 || index >= graphs.length) throw new MalformedMessageError(`there is no graph ${index}`);
  return { texts, graphs };
}

function readNodeGraph(bytes: Uint8Array): NodeGraph {
  const columns = new Map<Field, Uint8Array>();
  const numbers = new Map<Field, number>();
  readFields(bytes, {
    number: (field, value) => numbers.set(FIELDS[field - 1] as Field, value),
    bytes: (field, value) => columns.set(FIELDS[field - 1] as Field, value),
  });
  const [length, edges] = [numbers.get("length") ?? 0, numbers.get("edges") ?? 0];
  // A column of zeros is left out.
  const varints = (name: Field, count: number): Float64Array => {
    const column = columns.get(name) ?? EMPTY;
    return column.length === 0 ? new Float64Array(count) : readVarints(column, count);
  };
  const byteColumn = (name: Field): Uint8Array => {
    const column = columns.get(name) ?? new Uint8Array(length);
    if (column.length !== length) throw new MalformedMessageError(`${name} has ${column.length} of ${length} rows`);
    return column;
  };
  const edgeFrom = columns.get("edgeFrom") ?? EMPTY;
  const from = edgeFrom.length === 0 ? new Float64Array(edges) : readDeltas(edgeFrom, edges);
  const to = varints("edgeTo", edges);
  for (let edge = 0; edge < edges; edge++) {
    to[edge] = (to[edge] as number) + (from[edge] as number);
    for (const end of [from, to])
      if (!((end[edge] as number) >= 0 && (end[edge] as number) < length)) throw new MalformedMessageError("an edge has no end");
  }
  return {
    length,
    ids: readIds(byteColumn("idPrefix"), columns.get("idSuffix") ?? new Uint8Array(length)),
    kind: byteColumn("kind"),
    name: varints("name", length),
    entity: varints("entity", length),
    subGraph: varints("subGraph", length),
    from,
    to,
    failureNode: (numbers.get("failureNode") ?? 0) - 1,
  };
}

function readIds(prefixes: Uint8Array, suffixes: Uint8Array): readonly string[] {
  const { idSuffix, idSuffixLength } = readSuffixes(suffixes, prefixes.length);
  const ids: string[] = [];
  let bytes = new Uint8Array(64);
  let at = 0;
  for (const [row, prefix] of prefixes.entries()) {
    const length = prefix + (idSuffixLength[row] as number);
    if (length > bytes.length) {
      const longer = new Uint8Array(2 * length);
      longer.set(bytes);
      bytes = longer;
    }
    for (let to = prefix; to < length; to++) bytes[to] = idSuffix[at++] as number;
    ids.push(utf8.decode(bytes.subarray(0, length)));
  }
  return ids;
}
