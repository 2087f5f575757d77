import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { NodeCountsSchema, NodeTableChunkSchema } from "@flyte-ts/idl/flytets/admin/v1/node_table_pb";
import { EncodedMessage } from "@flyte-ts/rpc";
import { type TableCursor, writeTableCursor } from "./cursor.js";
import { encodeColumns } from "./encode-columns.js";
import type { TableRows } from "./table-rows.js";

export type TableMessage = EncodedMessage<typeof NodeTableChunkSchema>;

const FIELDS = { cursor: 1, reset: 2, complete: 3, ended: 4, texts: 5, nodes: 6, counts: 7, execution: 8 } as const;

export interface ChunkParts {
  readonly cursor: TableCursor;
  readonly reset?: boolean;
  readonly complete?: boolean;
  readonly texts?: readonly string[];
  readonly rows?: readonly number[];
  /** Encoded execution, if it has changed. */
  readonly execution?: Uint8Array | undefined;
}

/** Encodes a message of a node table, once for all watchers that receive it. */
export function encodeChunk(
  table: TableRows,
  { cursor, reset = false, complete = false, texts = [], rows = [], execution }: ChunkParts,
): TableMessage {
  const writer = new BinaryWriter().tag(FIELDS.cursor, WireType.LengthDelimited).string(writeTableCursor(cursor));
  const flag = (number: number, isSet: boolean): void => {
    if (isSet) writer.tag(number, WireType.Varint).bool(true);
  };
  const field = (number: number, bytes: Uint8Array): void => {
    writer.tag(number, WireType.LengthDelimited).bytes(bytes);
  };
  flag(FIELDS.reset, reset);
  flag(FIELDS.complete, complete);
  flag(FIELDS.ended, cursor.ended);
  for (const text of texts) writer.tag(FIELDS.texts, WireType.LengthDelimited).string(text);
  if (rows.length > 0) field(FIELDS.nodes, encodeColumns(table, rows));
  if (complete) field(FIELDS.counts, encodeCounts(table));
  if (execution !== undefined) field(FIELDS.execution, execution);
  return new EncodedMessage(NodeTableChunkSchema, writer.finish());
}

function encodeCounts({ counts: { byPhase, cached, retrying } }: TableRows): Uint8Array {
  return toBinary(NodeCountsSchema, create(NodeCountsSchema, { byPhase: [...byPhase], cached, retrying }));
}
