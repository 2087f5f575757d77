import { create } from "@bufbuild/protobuf";
import { AttributeError, JsonLiteralError, parseJsonPointer, resolveAttributes } from "@flyte-ts/domain/literal";
import type { Literal, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { PromiseAttributeSchema } from "@flyte-ts/idl/flyteidl/core/types_pb";

/**
 * Parses the path of an output, such as `o0` or `/o0/rows/0`, into its name and steps. @throws
 * JsonLiteralError
 */
export function outputPath(path: string): { readonly name: string; readonly steps: readonly string[] } {
  if (!path.startsWith("/") && path !== "") return { name: path, steps: [] };
  const [name = "", ...steps] = parseJsonPointer(path);
  if (name === "") throw new JsonLiteralError("the name of an output is missing");
  return { name, steps };
}

/**
 * Returns the part of the outputs at a path. @throws JsonLiteralError naming the step that does not
 * exist.
 */
export function atOutput({ literals }: LiteralMap, path: string): Literal {
  const { name, steps } = outputPath(path);
  if (!Object.hasOwn(literals, name)) {
    const there = Object.keys(literals).toSorted();
    throw new JsonLiteralError(`there is no output ${JSON.stringify(name)}${there.length === 0 ? "" : `, only ${there.join(", ")}`}`);
  }
  return steps.reduce((literal, step) => inside(literal, step, path), literals[name] as Literal);
}

/** A step of digits is an index of a list, or the key of a map. */
function inside(literal: Literal, step: string, path: string): Literal {
  const key = create(PromiseAttributeSchema, { value: { case: "stringValue", value: step } });
  const index = /^(0|[1-9][0-9]{0,8})$/.test(step)
    ? create(PromiseAttributeSchema, { value: { case: "intValue", value: Number(step) } })
    : undefined;
  for (const attribute of [index, key]) {
    if (attribute === undefined) continue;
    try {
      const found = resolveAttributes(literal, [attribute]);
      if ("uri" in found) throw new JsonLiteralError(`output ${path}: it is too large to be read; its value is at ${found.uri}`);
      return found;
    } catch (error) {
      if (!(error instanceof AttributeError)) throw error;
    }
  }
  throw new JsonLiteralError(`output ${path}: there is no ${JSON.stringify(step)}`);
}
