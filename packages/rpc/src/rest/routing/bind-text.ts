import type { DescEnum, DescField, DescMessage } from "@bufbuild/protobuf";
import { reflect, type ReflectList, type ReflectMap, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { parseMessageText } from "../json/message-text.js";
import { parseScalar, quote, TextError } from "../json/scalar-text.js";

type Located = { readonly parent: ReflectMessage; readonly field: DescField };

/**
 * Sets the field at a path of proto or JSON names, creating the messages on the way. Returns false
 * for an unknown name: grpc-gateway ignores such query parameters. Throws {@link TextError} for
 * texts that do not fit the field.
 */
export function bindField(target: ReflectMessage, path: readonly string[], texts: readonly string[]): boolean {
  const located = locate(target, path);
  if (!located) return false;
  const { parent, field } = located;
  switch (field.fieldKind) {
    case "list": {
      const list: ReflectList = parent.get(field);
      for (const text of texts) list.add(valueOf(field, text));
      return true;
    }
    case "map": {
      const [key, text] = texts;
      if (key === undefined || text === undefined || texts.length !== 2)
        throw new TextError(`map ${quote(field.name)} takes one value for each key`);
      const map: ReflectMap = parent.get(field);
      named(field, () => map.set(parseScalar(field.mapKey, key) as string | number | bigint | boolean, mapValue(field, text)));
      return true;
    }
    case "scalar":
    case "enum":
    case "message": {
      const [text] = texts;
      if (text === undefined) throw new TextError(`no value for field ${quote(field.name)}`);
      if (texts.length > 1) throw new TextError(`too many values for field ${quote(field.name)}`);
      parent.set(field, valueOf(field, text));
      return true;
    }
  }
}

function locate(target: ReflectMessage, path: readonly string[]): Located | undefined {
  let parent = target;
  for (const [index, name] of path.entries()) {
    const field = findField(parent.desc, name);
    if (!field) return undefined;
    if (field.oneof) {
      const set = parent.oneofCase(field.oneof);
      if (set !== undefined && (field.fieldKind !== "message" || set.number !== field.number)) {
        throw new TextError(`field already set for oneof ${quote(field.oneof.name)}`);
      }
    }
    if (index === path.length - 1) return { parent, field };
    if (field.fieldKind !== "message") throw new TextError(`invalid path: ${quote(field.name)} is not a message`);
    const child: ReflectMessage = parent.isSet(field) ? parent.get(field) : reflect(field.message);
    if (!parent.isSet(field)) parent.set(field, child);
    parent = child;
  }
  return undefined;
}

/** Finds a field by its proto name, else by its JSON name. */
export function findField(message: DescMessage, name: string): DescField | undefined {
  return message.fields.find((field) => field.name === name) ?? message.fields.find((field) => field.jsonName === name);
}

function valueOf(field: Exclude<DescField, { fieldKind: "map" }>, text: string): unknown {
  return named(field, () => {
    if (field.enum) return parseEnum(field.enum, text);
    if (field.message) return reflect(field.message, parseMessageText(field.message, text));
    return parseScalar(field.scalar, text);
  });
}

function mapValue(field: Extract<DescField, { fieldKind: "map" }>, text: string): unknown {
  if (field.enum) return parseEnum(field.enum, text);
  if (field.message) return reflect(field.message, parseMessageText(field.message, text));
  return parseScalar(field.scalar, text);
}

/** Parses an enum value by name, or by the number of an existing one. */
function parseEnum(desc: DescEnum, text: string): number {
  const byName = desc.values.find((value) => value.name === text);
  if (byName) return byName.number;
  if (/^-?[0-9]{1,10}$/.test(text)) {
    const byNumber = desc.value[Number(text)];
    if (byNumber) return byNumber.number;
  }
  throw new TextError(`${quote(text)} is not a valid value`);
}

function named<T>(field: DescField, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof TextError) throw new TextError(`parsing field ${quote(field.name)}: ${error.message}`, { cause: error });
    throw error;
  }
}
