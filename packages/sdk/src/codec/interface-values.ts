import { create } from "@bufbuild/protobuf";
import { loadOffloaded } from "@flyte-ts/domain/literal";
import { type Literal, type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type Interface, SINGLE_OUTPUT } from "../entity/definition.js";
import { ValueError } from "../entity/errors.js";
import type { FileStore } from "../file/file.js";
import { readAll } from "../file/remote.js";
import { type AnyType, type Fields, mayBeAbsent } from "../type/type.js";
import { decodeLiteral } from "./decode.js";
import { encodeValue } from "./encode.js";
import { type Encoding, FileEncoding } from "./encoding.js";
import { rootPlace } from "./place.js";
import { isRecord } from "./primitive.js";

/** Inputs that do not have their declared types. */
export class InvalidInput extends ValueError {}

/** Outputs that do not have their declared types. */
export class InvalidOutput extends ValueError {}

type Direction = "input" | "output";

/**
 * Encodes the inputs of a call; defaults take the place of those left out.
 *
 * @throws InvalidInput naming the first input that does not fit
 */
export function encodeInputs({ inputs }: Pick<Interface, "inputs">, values: unknown, files: FileStore): Promise<LiteralMap> {
  return written(files, (encoding) => encodeFields(inputs, values ?? {}, encoding, "input"));
}

/**
 * Encodes the result of a task's function.
 *
 * @throws InvalidOutput naming the first output that does not fit
 */
export function encodeOutputs(
  { outputs, single }: Pick<Interface, "outputs" | "single">,
  result: unknown,
  files: FileStore,
): Promise<LiteralMap> {
  const values = single ? { [SINGLE_OUTPUT]: result } : (result ?? {});
  return written(files, (encoding) => encodeFields(outputs, values, encoding, "output"));
}

/**
 * Decodes the inputs of a task.
 *
 * @throws InvalidInput naming the first input that does not fit
 */
export function decodeInputs(
  { inputs }: Pick<Interface, "inputs">,
  literals: LiteralMap,
  files: FileStore,
): Promise<Record<string, unknown>> {
  return decodeFields(inputs, literals, files, "input");
}

/**
 * Decodes outputs to the form in which a caller receives them.
 *
 * @throws InvalidOutput naming the first output that does not fit
 */
export async function decodeOutputs(
  { outputs, single }: Pick<Interface, "outputs" | "single">,
  literals: LiteralMap,
  files: FileStore,
): Promise<unknown> {
  const values = await decodeFields(outputs, literals, files, "output");
  if (single) return values[SINGLE_OUTPUT];
  return Object.keys(outputs).length === 0 ? undefined : values;
}

async function written(files: FileStore, encode: (encoding: Encoding) => LiteralMap): Promise<LiteralMap> {
  const encoding = new FileEncoding(files);
  const literals = encode(encoding);
  await encoding.finish();
  return literals;
}

/** Encodes values by name, synchronously; files are left to the encoding. */
export function encodeFields(fields: Fields, values: unknown, encoding: Encoding, direction: Direction): LiteralMap {
  return located(direction, () => {
    if (!isRecord(values)) throw new ValueError(`the ${direction}s must be an object with ${Object.keys(fields).join(", ") || "no names"}`);
    const unknown = Object.keys(values).find((name) => !Object.hasOwn(fields, name) && values[name] !== undefined);
    if (unknown !== undefined) throw new ValueError(`${unknown} is not declared; ${declaredText(fields)}`);
    const literals = Object.entries(fields).map(([name, type]) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      if (value === undefined && !mayBeAbsent(type)) throw new ValueError(`${name} is missing; ${declaredText(fields)}`);
      return [name, encodeValue(type, value, encoding, rootPlace(name))] as const;
    });
    return create(LiteralMapSchema, { literals: Object.fromEntries(literals) });
  });
}

async function decodeFields(fields: Fields, values: LiteralMap, files: FileStore, direction: Direction): Promise<Record<string, unknown>> {
  const { literals } = await loadOffloaded(values, (uri) => readAll(files.read(uri)));
  const byName = new Map(Object.entries(literals));
  return located(direction, () =>
    Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, decodeField(type, byName.get(name), files, name)] as const)),
  );
}

function decodeField(type: AnyType, literal: Literal | undefined, files: FileStore, name: string): unknown {
  const place = rootPlace(name);
  if (literal !== undefined) return decodeLiteral(type, literal, files, place);
  if (!mayBeAbsent(type)) throw new ValueError(`${name} is missing`);
  const absent = encodeValue(type, undefined, new FileEncoding(files), place);
  return decodeLiteral(type, absent, files, place);
}

function located<R>(direction: Direction, work: () => R): R {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    const Class = direction === "input" ? InvalidInput : InvalidOutput;
    throw new Class(`${direction} ${error.message}`, { cause: error });
  }
}

function declaredText(fields: Fields): string {
  const names = Object.keys(fields);
  return names.length === 0 ? "nothing is declared" : `declared: ${names.join(", ")}`;
}
