import { clone, create } from "@bufbuild/protobuf";
import { type LiteralMap, LiteralMapSchema, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { Scope } from "../graph/runtime.js";

/** Input by which flytekit's failure handlers receive the error. */
const ERROR_INPUT = "err";

/**
 * Adds the error and the failed node to a failure node's inputs, where the node declares that
 * input.
 */
export function withFailure(inputs: LiteralMap, scope: Scope): LiteralMap {
  if (inputs.literals[ERROR_INPUT] === undefined || scope.error === undefined) return inputs;
  const withError = clone(LiteralMapSchema, inputs);
  withError.literals[ERROR_INPUT] = create(LiteralSchema, {
    value: {
      case: "scalar",
      value: {
        value: {
          case: "union",
          value: {
            value: {
              value: {
                case: "scalar",
                value: { value: { case: "error", value: { message: scope.error.message, failedNodeId: scope.failedNodeId } } },
              },
            },
            type: { type: { case: "simple", value: SimpleType.ERROR }, structure: { tag: "FlyteError" } },
          },
        },
      },
    },
  });
  return withError;
}
