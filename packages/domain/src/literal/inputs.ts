import type { ParameterMap } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";

export type InputErrorCode =
  | "MissingValue"
  | "UnknownInput"
  | "MissingInput"
  | "WrongType"
  | "UnknownType"
  | "FixedInput"
  | "InvalidDatetime";

/** One rejected input: which variable, which rule, and a text for the caller. */
export interface InputError {
  readonly code: InputErrorCode;
  readonly variable: string;
  readonly message: string;
}

export interface InputCheck {
  /** What the launch plan (or the task) declares, with defaults. */
  readonly expected: ParameterMap | undefined;
  /** What the launch plan fixes: callers may not give these. */
  readonly fixed: LiteralMap | undefined;
  /** What the caller gave. */
  readonly given: LiteralMap | undefined;
}

export type CheckedInputs =
  | { readonly ok: true; readonly inputs: LiteralMap }
  | { readonly ok: false; readonly errors: readonly InputError[] };

/** The full inputs of an execution (given, defaults and fixed), or every reason against them, in order of variable name. */
export function checkInputs(_check: InputCheck): CheckedInputs {
  throw new Error("not written yet");
}
