import { ScalarType } from "@bufbuild/protobuf";
import { all, first, numberOf, type Parts, partsOf, textOf } from "./message-parts.js";

/** Type of a field that holds a message, or an enum, as descriptors number them. */
export const MESSAGE = 11;
export const ENUM = 14;

/** Field of a message of proto3. */
export interface FieldLayout {
  readonly number: number;
  /** Name of the message. */
  readonly parent: string;
  /** Property of the message's object. */
  readonly name: string;
  readonly form: "single" | "list" | "map";
  /** Type of the value; of each item, or of the values of a map. */
  readonly type: number;
  /** Type of the keys of a map. */
  readonly keyType: ScalarType;
  /** Property that holds the case of a oneof which this field belongs to. */
  readonly oneof: string | undefined;
  /** True when the message knows whether it was set. */
  readonly hasPresence: boolean;
  readonly isPacked: boolean;
  /** Layout of the value, for messages. */
  readonly message: () => MessageLayout;
}

export interface MessageLayout {
  readonly typeName: string;
  /** Ordered by number. */
  readonly fields: readonly FieldLayout[];
  readonly byNumber: ReadonlyMap<number, FieldLayout>;
  /** Properties of oneofs. */
  readonly oneofs: readonly string[];
}

/** Finds the layout of a message by its name. */
export type Search = (typeName: string) => MessageLayout;

// Numbers of the fields of descriptors.
const DESCRIPTOR = { name: 1, field: 2, nested: 3, options: 7, oneof: 8 };
const MAP_ENTRY = 7;
const FIELD = { name: 1, number: 3, label: 4, type: 5, typeName: 6, options: 8, oneofIndex: 9, isOptional: 17 };
const PACKED = 2;
const ONEOF_NAME = 1;
const REPEATED = 3;

/** Reads the layout of a message from the parts of its descriptor. */
export function readLayout(parts: Parts, typeName: string, search: Search): MessageLayout {
  const maps = new Map(
    all(parts, DESCRIPTOR.nested).flatMap((part) => {
      const nested = partsOf(part);
      const isMap = numberOf(partsOf(first(nested, DESCRIPTOR.options)), MAP_ENTRY) === 1;
      return isMap ? [[`${typeName}.${textOf(nested, DESCRIPTOR.name)}`, nested] as const] : [];
    }),
  );
  const oneofs = all(parts, DESCRIPTOR.oneof).map((part) => textOf(partsOf(part), ONEOF_NAME));
  const fields = all(parts, DESCRIPTOR.field)
    .map((part) => readField(partsOf(part), { typeName, maps, oneofs, search }))
    .toSorted((a, b) => a.number - b.number);
  const used = new Set(fields.map(({ oneof }) => oneof));
  return {
    typeName,
    fields,
    byNumber: new Map(fields.map((field) => [field.number, field])),
    oneofs: oneofs.map(camelCase).filter((oneof) => used.has(oneof)),
  };
}

interface InMessage {
  readonly typeName: string;
  /** Parts of the entries of maps, by their names. */
  readonly maps: ReadonlyMap<string, Parts>;
  readonly oneofs: readonly string[];
  readonly search: Search;
}

function readField(parts: Parts, { typeName, maps, oneofs, search }: InMessage): FieldLayout {
  const number = numberOf(parts, FIELD.number) ?? 0;
  const isOptional = numberOf(parts, FIELD.isOptional) === 1;
  const index = numberOf(parts, FIELD.oneofIndex);
  const oneof = index === undefined || isOptional ? undefined : camelCase(oneofs[index] ?? "");
  const camel = camelCase(textOf(parts, FIELD.name));
  const name = oneof === undefined ? propertyName(camel) : camel;
  const entry = maps.get(textOf(parts, FIELD.typeName).slice(1));
  const [key, value] = entry === undefined ? [] : all(entry, DESCRIPTOR.field).map(partsOf);
  const valueParts = value ?? parts;
  const type = numberOf(valueParts, FIELD.type) ?? 0;
  const isRepeated = numberOf(parts, FIELD.label) === REPEATED;
  const packed = numberOf(partsOf(first(parts, FIELD.options)), PACKED);
  let message: MessageLayout | undefined;
  return {
    number,
    parent: typeName,
    name,
    form: value !== undefined ? "map" : isRepeated ? "list" : "single",
    type,
    keyType: (key === undefined ? undefined : numberOf(key, FIELD.type)) ?? ScalarType.STRING,
    oneof,
    hasPresence: isOptional || type === MESSAGE,
    isPacked: packed !== 0 && type !== MESSAGE && type !== ScalarType.STRING && type !== ScalarType.BYTES,
    message: () => (message ??= search(textOf(valueParts, FIELD.typeName).slice(1))),
  };
}

const camelCase = (name: string): string => name.replace(/_+(.?)/g, (_, next: string) => next.toUpperCase());

/** Properties that all objects have. */
const RESERVED = new Set(["constructor", "toString", "toJSON", "valueOf"]);
const propertyName = (name: string): string => (RESERVED.has(name) ? `${name}$` : name);
