import { create } from "@bufbuild/protobuf";
import { literalTypeOf } from "@flyte-ts/domain/literal";
import { isTime } from "@flyte-ts/domain/timestamp";
import { isCastable, typeToText } from "@flyte-ts/domain/type";
import {
  type Parameter,
  type ParameterMap,
  ParameterMapSchema,
  ParameterSchema,
  type VariableMap,
} from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { Literal, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { LiteralType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { invalidArgument } from "../../platform/index.js";

export interface LaunchPlanInputs {
  readonly workflowInputs: VariableMap | undefined;
  readonly fixed: LiteralMap | undefined;
  readonly defaults: ParameterMap | undefined;
}

/**
 * Returns the inputs that executions of a launch plan may set: every input of the workflow that is
 * not fixed, with its default or as required.
 *
 * @throws RpcError INVALID_ARGUMENT naming the input whose fixed value or default is unknown, empty
 *   or of the wrong
 * type.
 */
export function expectedInputs({ workflowInputs, fixed, defaults }: LaunchPlanInputs): ParameterMap {
  const variables = workflowInputs?.variables ?? {};
  const fixedInputs = Object.entries(fixed?.literals ?? {});
  const defaultInputs = Object.entries(defaults?.parameters ?? {});
  for (const [name, literal] of fixedInputs) checkLiteral(literal, name, "fixed_inputs");
  for (const [name, parameter] of defaultInputs) checkParameter(parameter, name);
  for (const [name, parameter] of defaultInputs) {
    const expected = Object.hasOwn(variables, name) ? variables[name]?.type : undefined;
    if (expected === undefined) throw invalidArgument(`unexpected default_input ${name}: the workflow has no such input`);
    const given = parameter.var?.type;
    if (given === undefined || !isCastable(given, expected)) throw wrongType(`default_input ${name}`, { expected, given });
  }
  for (const [name, literal] of fixedInputs) {
    const expected = Object.hasOwn(variables, name) ? variables[name]?.type : undefined;
    if (expected === undefined) throw invalidArgument(`unexpected fixed_input ${name}: the workflow has no such input`);
    const given = literalTypeOf(literal);
    if (given === undefined || !isCastable(given, expected)) throw wrongType(`fixed_input ${name}`, { expected, given });
  }
  const parameters: [string, Parameter][] = [];
  for (const [name, variable] of Object.entries(variables)) {
    const given = defaults !== undefined && Object.hasOwn(defaults.parameters, name) ? defaults.parameters[name] : undefined;
    if (given !== undefined) parameters.push([name, given]);
    else if (fixed === undefined || !Object.hasOwn(fixed.literals, name)) {
      const { type, description } = variable;
      parameters.push([
        name,
        create(ParameterSchema, { var: { ...(type && { type }), description }, behavior: { case: "required", value: true } }),
      ]);
    }
  }
  return create(ParameterMapSchema, { parameters: Object.fromEntries(parameters) });
}

function wrongType(what: string, { expected, given }: { expected: LiteralType; given: LiteralType | undefined }): Error {
  return invalidArgument(`invalid ${what}: wrong type, expected ${typeToText(expected)}, got ${typeToText(given)} instead`);
}

function checkLiteral(literal: Literal, name: string, field: string): void {
  if (name === "") throw invalidArgument(`missing key in ${field}`);
  if (literal.value.case === undefined) throw invalidArgument(`missing valid literal in ${field} ${name}`);
  checkDatetime(literal, `${field} ${name}`);
}

function checkParameter(parameter: Parameter, name: string): void {
  const where = `default_inputs ${name}`;
  if (name === "") throw invalidArgument("missing key in default_inputs");
  const type = parameter.var?.type;
  if (type === undefined) throw invalidArgument(`invalid ${where}: the variable or its type is missing`);
  const { behavior } = parameter;
  switch (behavior.case) {
    case "artifactQuery":
    case "artifactId":
      throw invalidArgument(`invalid ${where}: artifacts are not supported`);
    case "required":
      if (behavior.value) return;
      break;
    case "default": {
      const given = literalTypeOf(behavior.value);
      if (given === undefined) throw invalidArgument(`missing valid literal in ${where}`);
      if (!isCastable(given, type)) throw wrongType(`${where}: value of the`, { expected: type, given });
      checkDatetime(behavior.value, where);
      return;
    }
    case undefined:
      break;
    default:
      behavior satisfies never;
  }
  throw invalidArgument(`invalid ${where}: it has neither default, nor is required; one must be specified`);
}

/** Validates that a datetime is in the years 1 to 9999. */
function checkDatetime(literal: Literal, where: string): void {
  const scalar = literal.value.case === "scalar" ? literal.value.value.value : undefined;
  const primitive = scalar?.case === "primitive" ? scalar.value.value : undefined;
  if (primitive?.case === "datetime" && !isTime(primitive.value)) {
    throw invalidArgument(`invalid ${where}: the datetime is outside the years 1 to 9999 or its nanoseconds are`);
  }
}
