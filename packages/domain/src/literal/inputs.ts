import type { Parameter, ParameterMap } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { Literal, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { compareText } from "../type/order.js";
import { typeToText } from "../type/text.js";
import { literalMap } from "./build.js";
import { literalFitsType } from "./fits.js";
import { literalTypeOf } from "./literal-type.js";

export type InputErrorCode =
  /** A name is empty, or a literal holds no value. */
  | "MissingValue"
  /** Given, but not declared. */
  | "UnknownInput"
  /** Declared without a default, but not given. */
  | "MissingInput"
  | "WrongType"
  /** The literal, or a part of it, lacks its type. */
  | "UnknownType"
  /** Given, but fixed by the launch plan. */
  | "FixedInput"
  /** Outside of the years 1 to 9999, or with impossible nanoseconds. */
  | "InvalidDatetime";

/** A rejected input: the variable, the rule, and a text for the caller. */
export interface InputError {
  readonly code: InputErrorCode;
  readonly variable: string;
  readonly message: string;
}

export interface InputCheck {
  /** Inputs declared by the launch plan (or the task), with defaults. */
  readonly expected: ParameterMap | undefined;
  /** Inputs fixed by the launch plan: callers may not give them. */
  readonly fixed: LiteralMap | undefined;
  /** Inputs given by the caller. */
  readonly given: LiteralMap | undefined;
}

export type CheckedInputs =
  | { readonly ok: true; readonly inputs: LiteralMap }
  | { readonly ok: false; readonly errors: readonly InputError[] };

/**
 * Returns the full inputs of an execution (given, defaults and fixed), or all errors, in order of
 * variable name. Enum inputs are checked as strings only, as clients expect.
 */
export function checkInputs({ expected, fixed, given }: InputCheck): CheckedInputs {
  const parameters = new Map(Object.entries(expected?.parameters ?? {}));
  const fixedLiterals = new Map(Object.entries(fixed?.literals ?? {}));
  const inputs = new Map<string, Literal>();
  const errors: InputError[] = [];
  for (const [name, literal] of Object.entries(given?.literals ?? {})) {
    const parameter = parameters.get(name);
    const error = fixedLiterals.has(name)
      ? inputError("FixedInput", name, "is fixed by the launch plan and cannot be given")
      : (literalError(name, literal) ??
        (parameter === undefined ? inputError("UnknownInput", name, "is not declared") : mismatch(name, literal, parameter)));
    if (error) errors.push(error);
    else inputs.set(name, literal);
  }
  for (const [name, { behavior }] of parameters) {
    if (given !== undefined && Object.hasOwn(given.literals, name)) continue;
    if (behavior.case === "default") inputs.set(name, behavior.value);
    else if (behavior.case !== "required" || behavior.value) errors.push(inputError("MissingInput", name, "is required and missing"));
  }
  for (const [name, literal] of fixedLiterals) inputs.set(name, literal);
  if (errors.length === 0) return { ok: true, inputs: literalMap(inputs) };
  return { ok: false, errors: errors.sort((a, b) => compareText(a.variable, b.variable)) };
}

/**
 * Checks literals whose types are not declared here, such as fixed inputs: missing names or values,
 * invalid datetimes.
 */
export function checkLiterals(literals: LiteralMap | undefined): readonly InputError[] {
  return Object.entries(literals?.literals ?? {}).flatMap(([name, literal]) => literalError(name, literal) ?? []);
}

function literalError(name: string, literal: Literal): InputError | undefined {
  if (name === "") return inputError("MissingValue", name, "has no name");
  if (literal.value.case === undefined) return inputError("MissingValue", name, "has no valid literal");
  return datetimeError(name, literal);
}

function mismatch(name: string, literal: Literal, parameter: Parameter): InputError | undefined {
  const type = parameter.var?.type;
  if (type !== undefined && literalFitsType(literal, type)) return undefined;
  const given = literalTypeOf(literal);
  if (given === undefined) return inputError("UnknownType", name, "has a value of unknown type");
  return inputError(
    "WrongType",
    name,
    `has the wrong type: expected ${typeToText(type)}, got ${typeToText(given) || "a value without a type"}`,
  );
}

/** 0001-01-01 and 9999-12-31T23:59:59, in seconds since 1970: the range of a protobuf timestamp. */
const MIN_SECONDS = -62_135_596_800n;
const MAX_SECONDS = 253_402_300_799n;

function datetimeError(name: string, literal: Literal): InputError | undefined {
  const scalar = literal.value.case === "scalar" ? literal.value.value.value : undefined;
  const primitive = scalar?.case === "primitive" ? scalar.value.value : undefined;
  if (primitive?.case !== "datetime") return undefined;
  const { seconds, nanos } = primitive.value;
  if (seconds >= MIN_SECONDS && seconds <= MAX_SECONDS && nanos >= 0 && nanos < 1_000_000_000) return undefined;
  return inputError("InvalidDatetime", name, "is not a datetime between the years 1 and 9999");
}

function inputError(code: InputErrorCode, variable: string, reason: string): InputError {
  return { code, variable, message: `input ${variable || '""'} ${reason}` };
}
