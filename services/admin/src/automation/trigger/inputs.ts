import {
  datetimeLiteral,
  floatLiteral,
  integerLiteral,
  JsonLiteralError,
  literalFromJson,
  literalMap,
  resolveJsonPointer,
  stringLiteral,
} from "@flyte-ts/domain/literal";
import type { JsonValue } from "@bufbuild/protobuf";
import type { ParameterMap } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { Literal, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type LiteralType, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { About, type InputSource } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import { atOutput } from "./output-path.js";

/** Cause of a firing. */
export type FiringSource =
  | {
      readonly kind: "execution";
      readonly project: string;
      readonly domain: string;
      readonly name: string;
      readonly phase: string;
      readonly error: string;
      readonly outputs: LiteralMap;
      readonly at: Date;
    }
  | { readonly kind: "webhook"; readonly deliveryId: string; readonly body: JsonValue; readonly at: Date };

/**
 * Builds the inputs of the execution to start. @throws JsonLiteralError naming the input and its
 * error.
 */
export function inputsOf(
  sources: Readonly<Record<string, InputSource>>,
  firingSource: FiringSource,
  expected: ParameterMap | undefined,
): LiteralMap {
  const parameters = new Map(Object.entries(expected?.parameters ?? {}));
  return literalMap(
    Object.entries(sources).map(([name, source]) => {
      try {
        const type = parameters.get(name)?.var?.type;
        // The active version may have changed since the validation.
        if (type === undefined) throw new JsonLiteralError("the launch plan has no such input");
        return [name, inputOf(source, firingSource, type)];
      } catch (error) {
        if (!(error instanceof JsonLiteralError)) throw error;
        throw new JsonLiteralError(`input ${name}: ${error.message}`, { cause: error });
      }
    }),
  );
}

function inputOf({ source }: InputSource, firingSource: FiringSource, type: LiteralType): Literal {
  switch (source.case) {
    case "literal":
      return source.value;
    case "output":
      if (firingSource.kind !== "execution") throw new JsonLiteralError("a webhook has no outputs: use a field of its body");
      return coerceNumber(atOutput(firingSource.outputs, source.value), type);
    case "body":
      if (firingSource.kind !== "webhook") throw new JsonLiteralError("the end of an execution has no body: use an output");
      return literalFromJson(resolveJsonPointer(firingSource.body, source.value), type, source.value);
    case "about":
      return aboutLiteral(source.value, firingSource);
    case undefined:
      throw new JsonLiteralError("it has no source");
  }
}

/**
 * Converts whole floats to integers and integers to floats where the type requires it, since
 * numbers inside structs are floats.
 */
function coerceNumber(literal: Literal, { type }: LiteralType): Literal {
  const scalar = literal.value.case === "scalar" ? literal.value.value.value : undefined;
  const primitive = scalar?.case === "primitive" ? scalar.value.value : undefined;
  if (type.case !== "simple" || primitive === undefined) return literal;
  if (type.value === SimpleType.INTEGER && primitive.case === "floatValue" && Number.isSafeInteger(primitive.value)) {
    return integerLiteral(primitive.value);
  }
  if (type.value === SimpleType.FLOAT && primitive.case === "integer") return floatLiteral(Number(primitive.value));
  return literal;
}

function aboutLiteral(about: About, firingSource: FiringSource): Literal {
  if (about === About.TIME) return datetimeLiteral(firingSource.at);
  const text =
    firingSource.kind === "webhook"
      ? about === About.DELIVERY_ID
        ? firingSource.deliveryId
        : undefined
      : ofExecution(about, firingSource);
  if (text === undefined) throw new JsonLiteralError(`${About[about] ?? about} is not available from the event that fired the trigger`);
  return stringLiteral(text);
}

function ofExecution(about: About, firingSource: Extract<FiringSource, { kind: "execution" }>): string | undefined {
  switch (about) {
    case About.EXECUTION_NAME:
      return firingSource.name;
    case About.EXECUTION_PROJECT:
      return firingSource.project;
    case About.EXECUTION_DOMAIN:
      return firingSource.domain;
    case About.EXECUTION_PHASE:
      return firingSource.phase;
    case About.EXECUTION_ERROR:
      return firingSource.error;
    default:
      return undefined;
  }
}
