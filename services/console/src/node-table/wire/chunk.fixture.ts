import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { ExecutionSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { type NodeColumnsSchema, type NodeCountsSchema, NodeTableChunkSchema } from "@flyte-ts/idl/flytets/admin/v1/node_table_pb";

/** A node as tests write it; times are milliseconds since the creation of the execution. */
export interface NodeRow {
  readonly key: number;
  readonly id: string;
  readonly parent: number;
  readonly phase: number;
  readonly flags: number;
  readonly cache: number;
  readonly attempts: number;
  readonly entity: string;
  readonly queued: number;
  readonly started: number | undefined;
  readonly ended: number | undefined;
  readonly error: string;
  readonly spec: string;
}

const SUCCEEDED = 3;

/** Node that has succeeded at once, apart from what is given. */
export function nodeRow(given: Partial<NodeRow> & { readonly key: number }): NodeRow {
  const times = { queued: 0, started: 0, ended: 0 };
  const numbers = { parent: 0, phase: SUCCEEDED, flags: 0, cache: 0, attempts: 1 };
  return { id: `n${given.key}`, entity: "", error: "", spec: "", ...numbers, ...times, ...given };
}

/** Appends an unsigned varint to bytes. */
function pushVarint(bytes: number[], value: number): void {
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  bytes.push(value);
}

/** Encodes integers as zigzag varints. */
export function zigzagVarints(values: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  for (const value of values) pushVarint(bytes, value < 0 ? -value * 2 - 1 : value * 2);
  return Uint8Array.from(bytes);
}

/** Texts of one connection, in the order in which they first occur. */
export class SentTexts {
  readonly #indexes = new Map<string, number>();

  /** Returns the index plus 1 of a text, 0 for an empty one; adds new texts to `added`. */
  refer(text: string, added: string[]): number {
    if (text === "") return 0;
    if (!this.#indexes.has(text)) {
      this.#indexes.set(text, this.#indexes.size);
      added.push(text);
    }
    return (this.#indexes.get(text) ?? 0) + 1;
  }
}

/** Makes the NodeColumns of rows. */
export function columnsOf(rows: readonly NodeRow[], texts: SentTexts, added: string[]): MessageInitShape<typeof NodeColumnsSchema> {
  const of = <Value>(pick: (row: NodeRow) => Value): Value[] => rows.map(pick);
  const deltas = (pick: (row: NodeRow) => number): Uint8Array =>
    zigzagVarints(of(pick).map((value, at, all) => value - (at === 0 ? 0 : (all[at - 1] ?? 0))));
  const bytes = (pick: (row: NodeRow) => number): Uint8Array => Uint8Array.from(of(pick));
  const textsOf = (pick: (row: NodeRow) => string): Uint8Array => zigzagVarints(of(pick).map((text) => texts.refer(text, added)));
  const after = (pick: (row: NodeRow) => number | undefined): Uint8Array =>
    zigzagVarints(of((row) => (pick(row) ?? row.queued - 1) - row.queued));
  const ids = of(({ id }) => new TextEncoder().encode(id));
  const prefixes = ids.map((id, at) => sharedBytes(id, ids[at - 1] ?? new Uint8Array()));
  const suffixes = ids.map((id, at) => id.subarray(prefixes[at]));
  return {
    length: rows.length,
    key: deltas(({ key }) => key),
    idPrefix: Uint8Array.from(prefixes),
    idSuffix: Uint8Array.from([...zigzagVarints(suffixes.map(({ length }) => length)), ...suffixes.flatMap((suffix) => [...suffix])]),
    parent: deltas(({ parent }) => parent),
    phase: bytes(({ phase }) => phase),
    flags: bytes(({ flags }) => flags),
    cache: bytes(({ cache }) => cache),
    attempts: bytes(({ attempts }) => attempts),
    entity: textsOf(({ entity }) => entity),
    queued: deltas(({ queued }) => queued),
    started: after(({ started }) => started),
    ended: after(({ ended }) => ended),
    error: textsOf(({ error }) => error),
    spec: textsOf(({ spec }) => spec),
  };
}

function sharedBytes(a: Uint8Array, b: Uint8Array): number {
  let shared = 0;
  while (shared < Math.min(a.length, b.length, 255) && a[shared] === b[shared]) shared++;
  return shared;
}

export interface ChunkFields {
  /** Texts of the connection; default: those of a new one. */
  readonly texts?: SentTexts;
  readonly cursor?: string;
  readonly reset?: boolean;
  readonly complete?: boolean;
  readonly ended?: boolean;
  readonly counts?: MessageInitShape<typeof NodeCountsSchema>;
  readonly execution?: MessageInitShape<typeof ExecutionSchema>;
}

/** Encodes a message of the stream by protobuf-es. */
export function encodeChunk(rows: readonly NodeRow[], { texts = new SentTexts(), ...fields }: ChunkFields = {}): Uint8Array {
  const added: string[] = [];
  const nodes = columnsOf(rows, texts, added);
  return toBinary(NodeTableChunkSchema, create(NodeTableChunkSchema, { ...fields, texts: added, ...(rows.length > 0 && { nodes }) }));
}
