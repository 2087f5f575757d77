import { ScalarType } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { createMessage } from "./create-message.js";
import { ENUM, type FieldLayout, MESSAGE, type MessageLayout } from "./layout.js";
import type { Fields } from "./message-fields.js";
import { wireTypeOf, writeScalar } from "./scalars.js";
import { formOf, structOf } from "./well-known.js";

/** Writes a message as `toBinary` of @bufbuild/protobuf does. */
export function writeMessage(layout: MessageLayout, message: Fields): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter();
  writeFields(writer, layout, message);
  return writer.finish();
}

interface UnknownField {
  readonly no: number;
  readonly wireType: WireType;
  readonly data: Uint8Array;
}

function writeFields(writer: BinaryWriter, layout: MessageLayout, message: Fields): void {
  if (message["$typeName"] !== layout.typeName)
    throw new Error(`cannot use ${layout.typeName} with message ${String(message["$typeName"])}`);
  for (const field of layout.fields) writeField(writer, field, message);
  for (const { no, wireType, data } of (message["$unknown"] ?? []) as readonly UnknownField[]) writer.tag(no, wireType).raw(data);
}

function writeField(writer: BinaryWriter, field: FieldLayout, message: Fields): void {
  const { name, oneof } = field;
  if (oneof !== undefined) {
    const { case: chosen, value } = message[oneof] as Fields;
    if (chosen === name) writeValue(writer, field, field.number, value);
    return;
  }
  const value = message[name];
  if (field.form === "list") writeItems(writer, field, value as readonly unknown[]);
  else if (field.form === "map") writeEntries(writer, field, value as Fields);
  else if (field.hasPresence ? value !== undefined : !isZero(field.type, value)) writeValue(writer, field, field.number, value);
}

function writeItems(writer: BinaryWriter, field: FieldLayout, items: readonly unknown[]): void {
  if (!field.isPacked) {
    for (const item of items) writeValue(writer, field, field.number, item);
    return;
  }
  if (items.length === 0) return;
  writer.tag(field.number, WireType.LengthDelimited).fork();
  for (const item of items) writeScalar(writer, field.type, item);
  writer.join();
}

function writeEntries(writer: BinaryWriter, field: FieldLayout, entries: Fields): void {
  for (const [key, value] of Object.entries(entries)) {
    writer.tag(field.number, WireType.LengthDelimited).fork();
    writer.tag(1, wireTypeOf(field.keyType));
    writeScalar(writer, field.keyType, keyOf(field.keyType, key));
    writeValue(writer, field, 2, value);
    writer.join();
  }
}

function keyOf(type: ScalarType, key: string): unknown {
  if (type === ScalarType.STRING) return key;
  if (type === ScalarType.BOOL) return key === "true";
  return wireTypeOf(type) === WireType.Bit64 || WIDE.includes(type) ? BigInt(key) : Number(key);
}

/** Integers of 64 bits with a variable length. */
const WIDE = [ScalarType.INT64, ScalarType.UINT64, ScalarType.SINT64];

function writeValue(writer: BinaryWriter, field: FieldLayout, number: number, value: unknown): void {
  writer.tag(number, wireTypeOf(field.type));
  if (field.type !== MESSAGE) {
    writeScalar(writer, field.type, value);
    return;
  }
  const layout = field.message();
  const form = formOf(field, layout);
  const message = form === undefined ? (value as Fields) : form === "json" ? structOf(value as Fields) : createMessage(layout, { value });
  writer.fork();
  writeFields(writer, layout, message);
  writer.join();
}

function isZero(type: number, value: unknown): boolean {
  switch (type) {
    case ScalarType.STRING:
      return value === "";
    case ScalarType.BOOL:
      return value === false;
    case ScalarType.BYTES:
      return value instanceof Uint8Array && value.byteLength === 0;
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return Object.is(value, 0);
    case ENUM:
      return value === 0;
    default:
      return Number(value) === 0;
  }
}
