import { createHash } from "node:crypto";
import { type DescField, type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";

export interface Digested {
  /** Binary encoding with map entries in key order. */
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes. */
  readonly digest: Uint8Array;
}

type Fields = Record<string, unknown>;

/**
 * Encodes and hashes a message: equal messages have equal bytes, whatever the insertion order of
 * their maps. Sorts the maps of the message in place.
 */
export function digestOf<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): Digested {
  sortMaps(schema, message as unknown as Fields);
  const bytes = toBinary(schema, message);
  return { bytes, digest: createHash("sha256").update(bytes).digest() };
}

function sortMaps(schema: DescMessage, message: Fields): void {
  for (const field of schema.fields) {
    if (field.oneof === undefined) {
      const value = message[field.localName];
      if (value !== undefined) message[field.localName] = sortedField(field, value);
      continue;
    }
    const chosen = message[field.oneof.localName] as { case?: string; value?: unknown } | undefined;
    if (chosen?.case === field.localName) chosen.value = sortedField(field, chosen.value);
  }
}

function sortedField(field: DescField, value: unknown): unknown {
  switch (field.fieldKind) {
    case "message":
      return sortedMessage(field.message, value);
    case "list":
      if (field.listKind === "message") for (const item of value as unknown[]) sortedMessage(field.message, item);
      return value;
    case "map": {
      const sorted = sortedKeys(value as Fields);
      if (field.mapKind === "message") for (const key of Object.keys(sorted)) sorted[key] = sortedMessage(field.message, sorted[key]);
      return sorted;
    }
    case "scalar":
    case "enum":
      return value;
    default:
      return field satisfies never;
  }
}

function sortedMessage(schema: DescMessage, value: unknown): unknown {
  // google.protobuf.Struct is represented as plain JSON.
  if (schema.typeName === "google.protobuf.Struct") return sortedJson(value);
  sortMaps(schema, value as Fields);
  return value;
}

function sortedJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedJson);
  if (typeof value !== "object" || value === null) return value;
  const sorted = sortedKeys(value as Fields);
  for (const key of Object.keys(sorted)) sorted[key] = sortedJson(sorted[key]);
  return sorted;
}

function sortedKeys(record: Fields): Fields {
  const keys = Object.keys(record);
  if (keys.every((key, i) => i === 0 || (keys[i - 1] as string) < key)) return record;
  return Object.fromEntries(keys.sort().map((key) => [key, record[key]]));
}
