import { promisify } from "node:util";
import { deflateRaw, inflateRaw } from "node:zlib";
import { fromBinary } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { type NodeColumns, NodeColumnsSchema } from "@flyte-ts/idl/flytets/admin/v1/node_table_pb";
import { readDeltas, readVarints } from "../../columns/byte-source.js";
import { decodeIds } from "../../columns/decode-ids.js";
import type { NodePage } from "../../store/node-table/node-page.js";
import { FIRST_PAGE, PAGE } from "../../store/node-table/read.js";
import { encodeColumns } from "./encode-columns.js";
import type { TableRows } from "./table-rows.js";

// Layout STORED_FORMAT of stored pages: the texts of all pages, then the pages, each compressed
// alone. Rows have the columns of NodeColumns.

const FIELDS = { texts: 1, page: 2 } as const;
const PLAIN_TEXTS = 1;
/** Most bytes of an inflated page: a damaged one must not fill the memory. */
const INFLATED = { maxOutputLength: 64 * 1_024 * 1_024 };

const deflate = promisify<Uint8Array, Buffer>(deflateRaw);
const inflate = promisify<Uint8Array, { readonly maxOutputLength: number }, Buffer>(inflateRaw);

/** Encodes a table; rows that change meanwhile are encoded as they are then. */
export async function encodePages(table: TableRows): Promise<Uint8Array> {
  const { length } = table;
  const pages: Uint8Array[] = [];
  for (let [from, size] = [0, FIRST_PAGE]; from < length; [from, size] = [from + size, PAGE]) {
    const rows = Array.from({ length: Math.min(size, length - from) }, (_, index) => from + index);
    pages.push(await deflate(encodeColumns(table, rows)));
  }
  const texts = new BinaryWriter();
  for (const text of table.texts.from(0)) texts.tag(PLAIN_TEXTS, WireType.LengthDelimited).string(text);
  const writer = new BinaryWriter().tag(FIELDS.texts, WireType.LengthDelimited).bytes(await deflate(texts.finish()));
  for (const page of pages) writer.tag(FIELDS.page, WireType.LengthDelimited).bytes(page);
  return writer.finish();
}

/**
 * Decodes the pages of a table.
 *
 * @throws Error for bytes that {@link encodePages} has not written.
 */
export async function* decodePages(bytes: Uint8Array): AsyncGenerator<NodePage> {
  const reader = new BinaryReader(bytes);
  let texts: readonly string[] = [];
  while (reader.pos < reader.len) {
    const [field] = reader.tag();
    const part = await inflate(reader.bytes(), INFLATED);
    if (field === FIELDS.texts) texts = readTexts(part);
    else if (field === FIELDS.page) yield readColumns(fromBinary(NodeColumnsSchema, part), texts);
    else throw new Error(`stored pages have an unknown field ${field}`);
  }
}

function readTexts(bytes: Uint8Array): string[] {
  const reader = new BinaryReader(bytes);
  const texts: string[] = [];
  while (reader.pos < reader.len) {
    reader.tag();
    texts.push(reader.string());
  }
  return texts;
}

function readColumns(columns: NodeColumns, texts: readonly string[]): NodePage {
  const { length, phase, flags, cache, attempts } = columns;
  const id = decodeIds({ prefixes: columns.idPrefix, suffixes: columns.idSuffix });
  if ([id, phase, flags, cache, attempts].some((column) => column.length !== length)) throw new Error("stored columns differ in length");
  const textsOf = (column: Uint8Array, textAt: (row: number) => string): string[] =>
    Array.from(readVarints(column, length), (number, row) => (number === 0 ? textAt(row) : (texts[number - 1] ?? missingText(number))));
  return {
    length,
    key: readDeltas(columns.key, length),
    id,
    parent: readDeltas(columns.parent, length),
    phase,
    flags,
    cache,
    attempts,
    queued: readDeltas(columns.queued, length),
    started: readVarints(columns.started, length),
    ended: readVarints(columns.ended, length),
    entity: textsOf(columns.entity, () => ""),
    error: textsOf(columns.error, () => ""),
    spec: textsOf(columns.spec, (row) => id[row] ?? ""),
  };
}

function missingText(number: number): never {
  throw new Error(`stored columns name text ${number}, which is missing`);
}
