import { ScalarType } from "@bufbuild/protobuf";

/** The text is not a valid value of its type. */
export class TextError extends Error {
  override readonly name = "TextError";
}

export type ScalarValue = string | number | bigint | boolean | Uint8Array;

/**
 * Parses a path or query value as a scalar, in the syntax of Go's strconv: decimal numbers, `true`,
 * `t`, `1`, base64.
 */
export function parseScalar(type: ScalarType, text: string): ScalarValue {
  switch (type) {
    case ScalarType.STRING:
      return text;
    case ScalarType.BOOL:
      return parseBool(text);
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return Number(parseInteger(text, { bits: 32, signed: true }));
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return Number(parseInteger(text, { bits: 32, signed: false }));
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return parseInteger(text, { bits: 64, signed: true });
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return parseInteger(text, { bits: 64, signed: false });
    case ScalarType.FLOAT:
      return parseFloating(text, 3.4028234663852886e38);
    case ScalarType.DOUBLE:
      return parseFloating(text, Number.MAX_VALUE);
    case ScalarType.BYTES:
      return parseBase64(text);
  }
}

function parseBool(text: string): boolean {
  switch (text) {
    case "1":
    case "t":
    case "T":
    case "true":
    case "TRUE":
    case "True":
      return true;
    case "0":
    case "f":
    case "F":
    case "false":
    case "FALSE":
    case "False":
      return false;
    default:
      throw new TextError(`${quote(text)} is not true or false`);
  }
}

function parseInteger(text: string, { bits, signed }: { bits: 32 | 64; signed: boolean }): bigint {
  const name = `${signed ? "" : "unsigned "}${bits}-bit integer`;
  if (!(signed ? /^[+-]?[0-9]{1,40}$/ : /^[0-9]{1,40}$/).test(text)) throw new TextError(`${quote(text)} is not a decimal ${name}`);
  const value = BigInt(text.startsWith("+") ? text.slice(1) : text);
  if ((signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value)) !== value)
    throw new TextError(`${text} is out of range of an ${name}`);
  return value;
}

function parseFloating(text: string, max: number): number {
  if (/^[+-]?(inf|infinity)$/i.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
  if (/^nan$/i.test(text)) return NaN;
  // Lets only one part of the pattern match a digit: otherwise the expression would try every split
  // of the digits before it rejects the text.
  if (!/^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?$/i.test(text)) throw new TextError(`${quote(text)} is not a number`);
  const value = Number(text);
  if (Math.abs(value) > max) throw new TextError(`${quote(text)} is out of range`);
  return value;
}

/** Accepts both alphabets, with or without padding. */
function parseBase64(text: string): Uint8Array {
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) throw new TextError(`${quote(text)} is not base64`);
  return new Uint8Array(Buffer.from(text.replaceAll("-", "+").replaceAll("_", "/"), "base64"));
}

export function quote(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}
