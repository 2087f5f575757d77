import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { ByteSink } from "../../columns/byte-sink.js";
import { encodeIds } from "../../columns/encode-ids.js";
import type { Column, TableRows } from "./table-rows.js";

/** Field numbers of NodeColumns. */
const FIELDS = {
  length: 1,
  key: 2,
  idPrefix: 3,
  idSuffix: 4,
  parent: 5,
  phase: 6,
  flags: 7,
  cache: 8,
  attempts: 9,
  entity: 10,
  queued: 11,
  started: 12,
  ended: 13,
  error: 14,
  spec: 15,
} as const;

const DELTAS = ["key", "parent", "queued"] as const;
const VARINTS = ["entity", "started", "ended", "error", "spec"] as const;
const BYTES = ["phase", "flags", "cache", "attempts"] as const;

/** Encodes rows of a table as flytets.admin.v1.NodeColumns. */
export function encodeColumns(table: TableRows, rows: readonly number[]): Uint8Array {
  const writer = new BinaryWriter().tag(FIELDS.length, WireType.Varint).uint32(rows.length);
  const field = (number: number, bytes: Uint8Array): void => {
    writer.tag(number, WireType.LengthDelimited).bytes(bytes);
  };
  for (const column of DELTAS) field(FIELDS[column], deltas(table, column, rows));
  for (const column of VARINTS) field(FIELDS[column], varints(table, column, rows));
  for (const column of BYTES) field(FIELDS[column], bytes(table, column, rows));
  const { prefixes, suffixes } = encodeIds(rows.length, (index) => table.idOf(rows[index] ?? 0));
  field(FIELDS.idPrefix, prefixes);
  field(FIELDS.idSuffix, suffixes);
  return writer.finish();
}

function deltas(table: TableRows, column: Column, rows: readonly number[]): Uint8Array {
  const values = table.column(column);
  const sink = new ByteSink(2 * rows.length);
  let before = 0;
  for (const row of rows) {
    const value = values[row] ?? 0;
    sink.varint(value - before);
    before = value;
  }
  return sink.written();
}

function varints(table: TableRows, column: Column, rows: readonly number[]): Uint8Array {
  const values = table.column(column);
  const sink = new ByteSink(2 * rows.length);
  for (const row of rows) sink.varint(values[row] ?? 0);
  return sink.written();
}

function bytes(table: TableRows, column: Column, rows: readonly number[]): Uint8Array {
  const values = table.column(column);
  const written = new Uint8Array(rows.length);
  for (let index = 0; index < rows.length; index++) written[index] = values[rows[index] ?? 0] ?? 0;
  return written;
}
