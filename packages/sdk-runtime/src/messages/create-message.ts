import { ScalarType } from "@bufbuild/protobuf";
import { type FieldLayout, MESSAGE, type MessageLayout } from "./layout.js";
import { type Fields, isFields, setOwn } from "./message-fields.js";
import { formOf } from "./well-known.js";

/** Makes a message as `create` of @bufbuild/protobuf does. */
export function createMessage(layout: MessageLayout, init: Readonly<Fields> = {}): Fields {
  if (init["$typeName"] === layout.typeName) return init;
  const message: Fields = { $typeName: layout.typeName };
  for (const oneof of layout.oneofs) message[oneof] = { case: undefined };
  for (const field of layout.fields) {
    const { name, oneof } = field;
    if (oneof === undefined) setField(message, field, init[name]);
    else {
      const given = init[oneof] as { readonly case?: string; readonly value?: unknown } | undefined;
      if (given?.case === name) message[oneof] = { case: name, value: converted(field, given.value) };
    }
  }
  return message;
}

function setField(message: Fields, field: FieldLayout, given: unknown): void {
  const { name, form } = field;
  if (form === "list") message[name] = Array.isArray(given) ? given.map((item) => converted(field, item)) : (given ?? []);
  else if (form === "map") message[name] = isFields(given) ? convertedMap(field, given) : (given ?? {});
  else if (given !== undefined && given !== null) message[name] = converted(field, given);
  else if (!field.hasPresence) message[name] = zeroOf(field.type);
}

function convertedMap(field: FieldLayout, given: Fields): unknown {
  if (field.type !== MESSAGE && field.type !== ScalarType.BYTES) return given;
  const entries: Fields = {};
  for (const [key, value] of Object.entries(given)) setOwn(entries, key, converted(field, value));
  return entries;
}

function converted(field: FieldLayout, value: unknown): unknown {
  if (field.type === ScalarType.BYTES) return Array.isArray(value) ? Uint8Array.from(value as number[]) : value;
  if (field.type !== MESSAGE || !isFields(value) || typeof value["$typeName"] === "string") return value;
  const layout = field.message();
  return formOf(field, layout) === undefined ? createMessage(layout, value) : value;
}

/** Value of a field that was not set. */
export function zeroOf(type: number): unknown {
  switch (type) {
    case ScalarType.STRING:
      return "";
    case ScalarType.BOOL:
      return false;
    case ScalarType.BYTES:
      return new Uint8Array(0);
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return 0n;
    default:
      return 0;
  }
}
