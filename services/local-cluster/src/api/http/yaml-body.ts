import { parse } from "yaml";
import { badRequest } from "../api-error.js";

/**
 * A body in YAML. Aliases are refused: a few hundred bytes of them stand for gigabytes.
 *
 * @throws ApiError BadRequest.
 */
export function parseYamlBody(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 0, logLevel: "error" }) as unknown;
  } catch (error) {
    throw badRequest(`the body is not YAML that this server takes: ${reason(error)}`);
  }
}

function reason(error: unknown): string {
  if (error instanceof ReferenceError) return "it must not contain aliases (*name)";
  if (error instanceof RangeError) return "it is nested too deep";
  return error instanceof Error ? error.message : String(error);
}
