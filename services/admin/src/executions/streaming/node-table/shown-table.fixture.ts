import { fromBinary } from "@bufbuild/protobuf";
import { NodeExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { type NodeColumns, type NodeTableChunk, NodeTableChunkSchema } from "@flyte-ts/idl/flytets/admin/v1/node_table_pb";
import type { TableMessage } from "./encode-chunk.js";

/** A node as the columns describe it. */
export interface ShownNode {
  readonly key: number;
  readonly id: string;
  readonly parent: number;
  readonly phase: keyof typeof Phase;
  readonly flags: number;
  readonly cache: keyof typeof CatalogCacheStatus | undefined;
  readonly attempts: number;
  readonly entity: string;
  readonly queued: number;
  readonly started: number;
  readonly ended: number;
  readonly error: string;
  readonly spec: string;
}

/** The table that a client holds after the messages of one or several connections. */
export class ShownTable {
  readonly rows = new Map<number, ShownNode>();
  #texts: string[] = [];

  /** Begins a connection: its texts count from 0. */
  connect(): void {
    this.#texts = [];
  }

  take(message: NodeTableChunk | TableMessage): NodeTableChunk {
    const chunk = "bytes" in message ? fromBinary(NodeTableChunkSchema, message.bytes) : message;
    if (chunk.reset) {
      this.rows.clear();
      this.#texts = [];
    }
    this.#texts.push(...chunk.texts);
    for (const node of chunk.nodes === undefined ? [] : nodesOf(chunk.nodes, this.#texts)) this.rows.set(node.key, node);
    return chunk;
  }

  byId(): Map<string, ShownNode> {
    return new Map([...this.rows.values()].map((node) => [node.id, node]));
  }
}

/** Decodes columns as the comments of NodeColumns define them, one value after the other. */
function nodesOf(columns: NodeColumns, texts: readonly string[]): ShownNode[] {
  const { length } = columns;
  const numbers = { key: deltas(columns.key), parent: deltas(columns.parent), queued: deltas(columns.queued) };
  const [started, ended] = [varints(columns.started), varints(columns.ended)];
  const named = (bytes: Uint8Array): (string | undefined)[] => varints(bytes).map((number) => texts[number - 1]);
  const [entity, error, spec] = [named(columns.entity), named(columns.error), named(columns.spec)];
  const ids = idsOf(columns);
  return Array.from({ length }, (_, row) => ({
    key: numbers.key[row] ?? Number.NaN,
    id: ids[row] ?? "?",
    parent: numbers.parent[row] ?? Number.NaN,
    phase: Phase[columns.phase[row] ?? -1] as keyof typeof Phase,
    flags: columns.flags[row] ?? Number.NaN,
    cache: CatalogCacheStatus[(columns.cache[row] ?? 0) - 1] as keyof typeof CatalogCacheStatus | undefined,
    attempts: columns.attempts[row] ?? Number.NaN,
    entity: entity[row] ?? "",
    queued: numbers.queued[row] ?? Number.NaN,
    started: started[row] ?? Number.NaN,
    ended: ended[row] ?? Number.NaN,
    error: error[row] ?? "",
    spec: spec[row] ?? ids[row] ?? "?",
  }));
}

function idsOf({ length, idPrefix, idSuffix }: NodeColumns): string[] {
  const lengths = varints(idSuffix, length);
  const suffixes = Buffer.from(idSuffix).subarray(idSuffix.length - lengths.reduce((sum, each) => sum + each, 0));
  const ids: Buffer[] = [];
  let at = 0;
  for (const [row, size] of lengths.entries()) {
    ids.push(Buffer.concat([(ids.at(-1) ?? Buffer.alloc(0)).subarray(0, idPrefix[row]), suffixes.subarray(at, at + size)]));
    at += size;
  }
  return ids.map(String);
}

function deltas(bytes: Uint8Array): number[] {
  let value = 0;
  return varints(bytes).map((delta) => (value += delta));
}

function varints(bytes: Uint8Array, count = Number.POSITIVE_INFINITY): number[] {
  const values: number[] = [];
  let [value, shift] = [0n, 0n];
  for (const byte of bytes) {
    if (values.length === count) break;
    value |= BigInt(byte & 127) << shift;
    shift += 7n;
    if (byte >= 128) continue;
    values.push(Number(value & 1n ? -(value + 1n) / 2n : value / 2n));
    [value, shift] = [0n, 0n];
  }
  return values;
}
