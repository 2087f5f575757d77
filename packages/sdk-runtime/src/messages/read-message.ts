import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { createMessage, zeroOf } from "./create-message.js";
import { type FieldLayout, MESSAGE, type MessageLayout } from "./layout.js";
import { type Fields, setOwn } from "./message-fields.js";
import { readScalar, wireTypeOf } from "./scalars.js";
import { formOf, jsonOf, structOf } from "./well-known.js";

/** Depth of messages in messages that is read. */
const MAX_DEPTH = 100;

/** Reads a message as `fromBinary` of @bufbuild/protobuf does. */
export function readMessage(layout: MessageLayout, bytes: Uint8Array): Fields {
  const message = createMessage(layout);
  readFields(layout, message, { reader: new BinaryReader(bytes), end: bytes.length, depth: 1 });
  return message;
}

interface Reading {
  readonly reader: BinaryReader;
  readonly end: number;
  readonly depth: number;
}

function readFields(layout: MessageLayout, message: Fields, { reader, end, depth }: Reading): void {
  if (depth > MAX_DEPTH)
    throw new Error(`cannot decode message ${layout.typeName} from binary: maximum recursion depth of ${MAX_DEPTH} reached`);
  const unknown = (message["$unknown"] ?? []) as unknown[];
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    const field = layout.byNumber.get(number);
    if (field === undefined) unknown.push({ no: number, wireType, data: reader.skip(wireType, number, MAX_DEPTH - depth) });
    else readField(field, message, { reader, depth, wireType });
  }
  if (unknown.length > 0) message["$unknown"] = unknown;
}

interface FieldReading {
  readonly reader: BinaryReader;
  readonly depth: number;
  readonly wireType: WireType;
}

function readField(field: FieldLayout, message: Fields, reading: FieldReading): void {
  const { name, oneof } = field;
  if (field.form === "map") readEntry(field, message[name] as Fields, reading);
  else if (field.form === "list") readItems(field, message[name] as unknown[], reading);
  else if (oneof === undefined) message[name] = readValue(field, reading, message[name]);
  else {
    const before = message[oneof] as Fields;
    message[oneof] = { case: name, value: readValue(field, reading, before["case"] === name ? before["value"] : undefined) };
  }
}

function readItems(field: FieldLayout, items: unknown[], reading: FieldReading): void {
  const { reader, wireType } = reading;
  if (wireType !== WireType.LengthDelimited || wireTypeOf(field.type) === WireType.LengthDelimited) {
    items.push(readValue(field, reading, undefined));
    return;
  }
  const end = reader.uint32() + reader.pos;
  while (reader.pos < end) items.push(readScalar(reader, field.type));
}

function readEntry(field: FieldLayout, entries: Fields, reading: FieldReading): void {
  const { reader, depth } = reading;
  const end = reader.uint32() + reader.pos;
  let key: unknown;
  let value: unknown;
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    if (number === 1) key = readScalar(reader, field.keyType);
    else if (number === 2) value = readValue(field, reading, value);
    else reader.skip(wireType, number, MAX_DEPTH - depth);
  }
  setOwn(entries, String(key ?? zeroOf(field.keyType)), value ?? emptyValue(field));
}

function emptyValue(field: FieldLayout): unknown {
  if (field.type !== MESSAGE) return zeroOf(field.type);
  const layout = field.message();
  return formOf(field, layout) === "json" ? {} : createMessage(layout);
}

/** Reads a value; fields of a message that was read before are kept. */
function readValue(field: FieldLayout, { reader, depth }: FieldReading, before: unknown): unknown {
  if (field.type !== MESSAGE) return readScalar(reader, field.type);
  const layout = field.message();
  const form = formOf(field, layout);
  const message = messageOf(layout, form, before);
  const end = reader.uint32() + reader.pos;
  readFields(layout, message, { reader, end, depth: depth + 1 });
  return form === undefined ? message : form === "json" ? jsonOf(message) : message["value"];
}

function messageOf(layout: MessageLayout, form: ReturnType<typeof formOf>, before: unknown): Fields {
  if (before === undefined) return createMessage(layout);
  if (form === undefined) return before as Fields;
  return form === "json" ? structOf(before as Fields) : createMessage(layout, { value: before });
}
