import { type DescField, type DescMessage, fromBinary, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { messageFactory, type Fields } from "./empty.js";
import { ProtoReader, UnsupportedEncodingError } from "./input.js";
import { isRegularMessage } from "./kinds.js";
import { type ReadValue, scalarReaders, wireTypes } from "./scalar.js";

interface FieldReader {
  readonly wireType: WireType;
  readonly read: (message: Fields, reader: ProtoReader) => void;
}

interface Reader {
  /** Creates a message in which nothing is set. */
  readonly empty: () => Fields;
  /** Readers by field number; a missing one means an unknown field. */
  readonly fields: readonly (FieldReader | undefined)[];
}

const readers = new WeakMap<DescMessage, Reader>();

/**
 * Decodes the same message as `fromBinary` of the protobuf library, faster, for messages of which
 * there are very many. The library builds a message property by property, each of which gives the
 * object a new shape, and decodes tags into arrays.
 *
 * Message fields that are not set are present, as undefined.
 *
 * @throws the errors of `fromBinary`.
 */
export function decodeMessage<Desc extends DescMessage>(schema: Desc, bytes: Uint8Array): MessageShape<Desc> {
  try {
    return readMessage(readerOf(schema), new ProtoReader(bytes)) as MessageShape<Desc>;
  } catch {
    // Input unsupported here is left to the library, which accepts it or has the error text.
    return fromBinary(schema, bytes);
  }
}

function readMessage({ empty, fields }: Reader, reader: ProtoReader): Fields {
  const message = empty();
  while (reader.hasMore) {
    const tag = reader.varint();
    const field = fields[tag >>> 3];
    if (field === undefined || field.wireType !== (tag & 7)) throw new UnsupportedEncodingError("a field that is not known");
    field.read(message, reader);
  }
  return message;
}

function readerOf(schema: DescMessage): Reader {
  const known = readers.get(schema);
  if (known !== undefined) return known;
  const fields: (FieldReader | undefined)[] = [];
  const reader: Reader = { empty: messageFactory(schema) as unknown as () => Fields, fields };
  // Registered before its fields, which may be of the same type.
  readers.set(schema, reader);
  for (const field of schema.fields) fields[field.number] = fieldReader(field);
  return reader;
}

/** Undefined for kinds of fields that frequent messages do not have. */
function fieldReader(field: DescField): FieldReader | undefined {
  const { localName: name } = field;
  if (field.fieldKind === "map") return mapReader(field);
  const { wireType, read } = valueReader(field) ?? {};
  if (wireType === undefined || read === undefined) return undefined;
  if (field.fieldKind === "list") {
    if (wireType !== WireType.LengthDelimited) return undefined;
    return { wireType, read: (message, reader) => (message[name] as unknown[]).push(read(reader)) };
  }
  if (field.oneof !== undefined) {
    const { localName: oneof } = field.oneof;
    return {
      wireType,
      read: (message, reader) => {
        if (field.message !== undefined && (message[oneof] as { readonly case?: string }).case === name)
          throw new UnsupportedEncodingError("a message field that occurs more than once");
        message[oneof] = { case: name, value: read(reader) };
      },
    };
  }
  if (field.fieldKind === "message") {
    return {
      wireType,
      read: (message, reader) => {
        if (message[name] !== undefined) throw new UnsupportedEncodingError("a message field that occurs more than once");
        message[name] = read(reader);
      },
    };
  }
  if (field.presence !== FeatureSet_FieldPresence.IMPLICIT) return undefined;
  return { wireType, read: (message, reader) => (message[name] = read(reader)) };
}

interface ValueReader {
  readonly wireType: WireType;
  readonly read: ReadValue;
}

/** Reads one value after its tag; for a map field, the value of one entry. */
function valueReader(field: DescField): ValueReader | undefined {
  if (field.message !== undefined) return isRegularMessage(field) ? messageReader(field.message) : libraryReader(field);
  const scalar = field.scalar ?? ScalarType.INT32;
  const read = scalarReaders[scalar];
  const wireType = wireTypes[scalar];
  return read === undefined || wireType === undefined ? undefined : { wireType, read };
}

function messageReader(schema: DescMessage): ValueReader {
  let messageShape: Reader | undefined;
  return {
    wireType: WireType.LengthDelimited,
    read: (reader) => {
      messageShape ??= readerOf(schema);
      const outer = reader.enter();
      const message = readMessage(messageShape, reader);
      reader.leave(outer);
      return message;
    },
  };
}

function mapReader(field: DescField & { readonly fieldKind: "map" }): FieldReader | undefined {
  const { localName: name } = field;
  const key = field.mapKey === ScalarType.STRING ? scalarReaders[ScalarType.STRING] : undefined;
  const value = valueReader(field);
  if (key === undefined || value === undefined) return undefined;
  const keyTag = (1 << 3) | WireType.LengthDelimited;
  const valueTag = (2 << 3) | value.wireType;
  return {
    wireType: WireType.LengthDelimited,
    read: (message, reader) => {
      const outer = reader.enter();
      if (reader.varint() !== keyTag) throw new UnsupportedEncodingError("an entry without a key");
      const own = key(reader) as string;
      if (own === "__proto__" || reader.varint() !== valueTag) throw new UnsupportedEncodingError("a map entry with unexpected fields");
      (message[name] as Fields)[own] = value.read(reader);
      if (reader.hasMore) throw new UnsupportedEncodingError("a map entry with trailing data");
      reader.leave(outer);
    },
  };
}

/** Delegates to the library, with a message that has only this field. */
function libraryReader(field: DescField): ValueReader | undefined {
  if (field.fieldKind !== "message" || field.delimitedEncoding) return undefined;
  const { parent, localName: name, number, oneof } = field;
  const tag = ((number << 3) | WireType.LengthDelimited) >>> 0;
  const behindTag = (value: Uint8Array) => new BinaryWriter().uint32(tag).bytes(value).finish();
  // Most of these fields are empty.
  const nothing = behindTag(new Uint8Array());
  return {
    wireType: WireType.LengthDelimited,
    read: (reader) => {
      const value = reader.raw();
      const message = fromBinary(parent, value.length === 0 ? nothing : behindTag(value)) as unknown as Fields;
      return oneof === undefined ? message[name] : (message[oneof.localName] as { readonly value: unknown }).value;
    },
  };
}
