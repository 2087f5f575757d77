import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";

/** Wire layout of one known field. */
export interface FieldEntry {
  readonly wireType: WireType;
  /** True when a length-delimited value may hold several scalars of `wireType`. */
  readonly packable: boolean;
  /** Layout of the message in it; undefined for scalars. */
  readonly child: MessageTable | undefined;
}

/** Known fields of a message, indexed by their numbers. */
export type MessageTable = readonly (FieldEntry | undefined)[];

const tables = new WeakMap<DescMessage, MessageTable>();

/** Builds the wire layout of a message type, once for each descriptor. */
export function messageTable(desc: DescMessage): MessageTable {
  const known = tables.get(desc);
  if (known !== undefined) return known;
  const table: (FieldEntry | undefined)[] = [];
  // Registered before its fields: message types may be recursive.
  tables.set(desc, table);
  for (const field of desc.fields) table[field.number] = entryOf(field);
  return table;
}

function entryOf(field: DescField): FieldEntry {
  if (field.fieldKind === "map") return { wireType: WireType.LengthDelimited, packable: false, child: mapEntryTable(field) };
  return valueEntry(field, field.fieldKind === "list");
}

function mapEntryTable(field: DescField & { readonly fieldKind: "map" }): MessageTable {
  const key = { wireType: wireTypeOf(field.mapKey), packable: false, child: undefined };
  return [undefined, key, valueEntry(field, false)];
}

function valueEntry(field: DescField, list: boolean): FieldEntry {
  if (field.message !== undefined) return { wireType: WireType.LengthDelimited, packable: false, child: messageTable(field.message) };
  const wireType = wireTypeOf(field.scalar ?? ScalarType.INT32);
  return { wireType, packable: list && wireType !== WireType.LengthDelimited, child: undefined };
}

function wireTypeOf(scalar: ScalarType): WireType {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return WireType.LengthDelimited;
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return WireType.Bit64;
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return WireType.Bit32;
    default:
      return WireType.Varint;
  }
}
