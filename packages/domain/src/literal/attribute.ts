import type { JsonValue } from "@bufbuild/protobuf";
import type { Binary, Literal } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { PromiseAttribute } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { MAX_NESTING } from "../type/nesting.js";
import {
  binaryLiteral,
  booleanLiteral,
  collectionLiteral,
  floatLiteral,
  integerLiteral,
  MSGPACK_TAG,
  noneLiteral,
  stringLiteral,
  structLiteral,
} from "./build.js";
import { type MsgpackHead, MsgpackError, readHead, skipValue } from "./msgpack.js";

export type AttributeErrorCode = "PromiseAttributeResolveError" | "InvalidPrimitiveType";

/** An attribute path does not exist in this literal. */
export class AttributeError extends Error {
  override readonly name = "AttributeError";

  constructor(
    readonly code: AttributeErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The literal must be fetched from this URI before its attributes can be resolved. */
export interface OffloadedAt {
  readonly uri: string;
}

type Path = readonly PromiseAttribute[];

/**
 * Resolves an attribute path (`o0.a["b"][0]`): through lists and maps, unions, and into msgpack
 * values and structs. Inside a msgpack value a list becomes a collection of msgpack values, a
 * primitive becomes a primitive, all else stays msgpack, with the producer's bytes. Inside a
 * struct, numbers are floats. Throws AttributeError. Offloaded literals on the way are requested;
 * when one is not fetched, the result is its URI.
 */
export function resolveAttributes(
  literal: Literal,
  path: Path,
  offloaded: (uri: string) => Literal | undefined = () => undefined,
): Literal | OffloadedAt {
  let found = literal;
  for (let i = 0, hops = 0; ; hops++) {
    if (hops > path.length + MAX_NESTING) throw missingAt(path, i, `unions or offloaded literals more than ${MAX_NESTING} deep`);
    const value = found.value;
    const attribute = path[i];
    if (value.case === "offloadedMetadata" && attribute !== undefined) {
      const content = offloaded(value.value.uri);
      if (content === undefined) return { uri: value.value.uri };
      if (content.value.case === "offloadedMetadata") throw missingAt(path, i, "an offloaded literal inside an offloaded literal");
      found = content;
      continue;
    }
    const scalar = value.case === "scalar" ? value.value.value : undefined;
    if (scalar?.case === "union" && scalar.value.value !== undefined && attribute !== undefined) {
      found = scalar.value.value;
      continue;
    }
    if (scalar?.case === "binary" && scalar.value.tag === MSGPACK_TAG) return inMsgpack(scalar.value, path, i);
    if (scalar?.case === "generic") return inStruct(scalar.value, path, i);
    if (attribute === undefined) return found;
    if (value.case === "map") {
      const key = keyOf(path, i);
      if (!Object.hasOwn(value.value.literals, key)) throw missingAt(path, i, "a map without this key");
      found = value.value.literals[key] as Literal;
    } else if (value.case === "collection") {
      found = value.value.literals[indexOf(path, i, value.value.literals.length)] as Literal;
    } else if (scalar?.case === "binary") {
      throw missingAt(path, i, `a binary of format ${JSON.stringify(scalar.value.tag)}; only ${MSGPACK_TAG} can be looked into`);
    } else {
      throw missingAt(path, i, `a literal without attributes (${scalar?.case ?? "no value"})`);
    }
    i++;
  }
}

function inMsgpack({ value: bytes }: Binary, path: Path, from: number): Literal {
  try {
    let at = 0;
    for (let i = from; i < path.length; i++) at = childOffset(bytes, at, path, i);
    return msgpackLiteral(bytes, at);
  } catch (error) {
    if (!(error instanceof MsgpackError)) throw error;
    throw new AttributeError("PromiseAttributeResolveError", `cannot resolve ${pathText(path)}: ${error.message}`, { cause: error });
  }
}

/** Offset of the value of this attribute. */
function childOffset(bytes: Uint8Array, offset: number, path: Path, i: number): number {
  const head = readHead(bytes, offset);
  if (head.kind === "array") {
    let at = head.next;
    for (let skip = indexOf(path, i, head.count); skip > 0; skip--) at = skipValue(bytes, at);
    return at;
  }
  if (head.kind !== "map") throw missingAt(path, i, `a msgpack value without fields (${head.kind})`);
  let found: number | undefined;
  let at = head.next;
  for (let pair = 0; pair < head.count; pair++) {
    const key = readHead(bytes, at);
    at = skipValue(bytes, at);
    // The last of duplicate keys counts, as in a decoded map.
    if (isKey(key, path[i] as PromiseAttribute)) found = at;
    at = skipValue(bytes, at);
  }
  if (found === undefined) throw missingAt(path, i, "a map without this key");
  return found;
}

function isKey(key: MsgpackHead, { value }: PromiseAttribute): boolean {
  if (key.kind === "string") return value.case === "stringValue" && key.value === value.value;
  return key.kind === "integer" && value.case === "intValue" && key.value === BigInt(value.value);
}

const MAX_INT64 = 2n ** 63n - 1n;

function msgpackLiteral(bytes: Uint8Array, offset: number): Literal {
  const head = readHead(bytes, offset);
  switch (head.kind) {
    case "boolean":
      return booleanLiteral(head.value);
    case "float":
      return floatLiteral(head.value);
    case "string":
      return stringLiteral(head.value);
    case "integer":
      if (head.value > MAX_INT64) throw new AttributeError("InvalidPrimitiveType", `${head.value} does not fit an integer of 64 bits`);
      return integerLiteral(head.value);
    case "array": {
      const literals: Literal[] = [];
      for (let i = 0, at = head.next; i < head.count; i++) {
        const end = skipValue(bytes, at);
        literals.push(binaryLiteral(bytes.slice(at, end), MSGPACK_TAG));
        at = end;
      }
      return collectionLiteral(literals);
    }
    case "nil":
    case "binary":
    case "extension":
    case "map":
      return binaryLiteral(bytes.slice(offset, skipValue(bytes, offset)), MSGPACK_TAG);
  }
}

function inStruct(struct: JsonValue, path: Path, from: number): Literal {
  let found = struct;
  for (let i = from; i < path.length; i++) {
    if (Array.isArray(found)) {
      found = found[indexOf(path, i, found.length)] as JsonValue;
    } else if (typeof found === "object" && found !== null) {
      const key = keyOf(path, i);
      if (!Object.hasOwn(found, key)) throw missingAt(path, i, "a struct without this field");
      found = found[key] as JsonValue;
    } else {
      throw missingAt(path, i, `a struct's ${found === null ? "null" : typeof found}, without attributes`);
    }
  }
  return jsonLiteral(found, path);
}

function jsonLiteral(value: JsonValue, path: Path, depth = 0): Literal {
  if (depth > MAX_NESTING) throw missingAt(path, path.length - 1, `lists more than ${MAX_NESTING} deep`);
  if (Array.isArray(value)) return collectionLiteral(value.map((item) => jsonLiteral(item, path, depth + 1)));
  switch (typeof value) {
    case "boolean":
      return booleanLiteral(value);
    case "number":
      return floatLiteral(value);
    case "string":
      return stringLiteral(value);
    default:
      return value === null ? noneLiteral() : structLiteral(value);
  }
}

function keyOf(path: Path, i: number): string {
  const value = path[i]?.value;
  if (value?.case !== "stringValue") throw missingAt(path, i, "a map, whose keys are strings");
  return value.value;
}

function indexOf(path: Path, i: number, length: number): number {
  const value = path[i]?.value;
  if (value?.case !== "intValue") throw missingAt(path, i, "a list, whose index is a number");
  if (value.value < 0 || value.value >= length) throw missingAt(path, i, `a list of ${length}`);
  return value.value;
}

function missingAt(path: Path, i: number, what: string): AttributeError {
  return new AttributeError(
    "PromiseAttributeResolveError",
    `cannot resolve ${pathText(path)}: step ${pathText(path.slice(i, i + 1))} meets ${what}`,
  );
}

function pathText(path: Path): string {
  return path.map(({ value }) => (value.case === "stringValue" ? `.${value.value}` : `[${value.value ?? ""}]`)).join("");
}
