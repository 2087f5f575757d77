import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { WatchExecutionResponseSchema } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { EncodedMessage } from "@flyte-ts/rpc";
import { type Cursor, writeCursor } from "./cursor.js";
import type { WatchedRow } from "../../store/watch/row.js";

export type Message = EncodedMessage<typeof WatchExecutionResponseSchema>;

/**
 * Approximate size of the rows in one message; it bounds the data in transit to a watcher that
 * stopped reading.
 */
export const CHUNK_BYTES = 32 * 1024;

const FIELDS = { cursor: 1, reset: 2, complete: 6, ended: 7 } as const;

export interface ChunkParts {
  readonly rows: readonly WatchedRow[];
  readonly cursor: Cursor;
  readonly reset?: boolean;
  readonly complete?: boolean;
}

/** Encodes a message from encoded rows, once for all watchers that receive it. */
export function messageOf({ rows, cursor, reset = false, complete = false }: ChunkParts): Message {
  const writer = new BinaryWriter().tag(FIELDS.cursor, WireType.LengthDelimited).string(writeCursor(cursor));
  if (reset) writer.tag(FIELDS.reset, WireType.Varint).bool(true);
  if (complete) writer.tag(FIELDS.complete, WireType.Varint).bool(true);
  if (cursor.ended) writer.tag(FIELDS.ended, WireType.Varint).bool(true);
  return new EncodedMessage(WatchExecutionResponseSchema, Buffer.concat([...rows.map(({ bytes }) => bytes), writer.finish()]));
}

/** Splits rows into parts of {@link CHUNK_BYTES}; no rows yield no part. */
export function* inChunks(rows: readonly WatchedRow[]): Generator<{ readonly rows: readonly WatchedRow[]; readonly last: boolean }> {
  let from = 0;
  let bytes = 0;
  for (const [index, row] of rows.entries()) {
    if (index > from && bytes + row.bytes.length > CHUNK_BYTES) {
      yield { rows: rows.slice(from, index), last: false };
      [from, bytes] = [index, 0];
    }
    bytes += row.bytes.length;
  }
  if (rows.length > 0) yield { rows: rows.slice(from), last: true };
}
