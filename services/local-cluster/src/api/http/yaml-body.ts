import { Lexer, parse } from "yaml";
import { isDeeper } from "../../object/depth.js";
import { badRequest } from "../api-error.js";
import { MAX_DEPTH, scanJsonBody } from "./request-body.js";

/**
 * Most tokens of YAML that are read, some 5,000 lines. Clients of Kubernetes send JSON, also where they call it YAML (`kubectl apply
 * --server-side`), and JSON is not bounded by this. A token takes some microseconds, as long as hundreds of bytes of JSON.
 */
const MAX_TOKENS = 20_000;

/**
 * Reads a body in YAML, in time that grows with its length: JSON, which is YAML, by the parser of JSON; the rest by its tokens, which
 * are counted first. Aliases are refused: a few hundred bytes of them stand for gigabytes. A key given twice has its last value.
 *
 * @throws ApiError BadRequest.
 */
export function parseYamlBody(text: string): unknown {
  const json = parseAsJson(text);
  if (json !== undefined) return json;
  if (hasMoreTokens(text, MAX_TOKENS)) throw invalidYaml(`it has more than ${MAX_TOKENS} tokens; send JSON instead`);
  const value = parseYamlText(text);
  if (isDeeper(value, MAX_DEPTH)) throw invalidYaml("it is nested too deep");
  return value;
}

/** The value of a text that is JSON; undefined where it may be YAML. */
function parseAsJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  scanJsonBody(text);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function parseYamlText(text: string): unknown {
  try {
    // The places of errors in lines are found in the square of their number, and keys are compared each with each.
    return parse(text, { maxAliasCount: 0, logLevel: "error", prettyErrors: false, uniqueKeys: false }) as unknown;
  } catch (error) {
    throw invalidYaml(reason(error));
  }
}

function hasMoreTokens(text: string, maxTokens: number): boolean {
  let count = 0;
  for (const _ of new Lexer().lex(text)) if (++count > maxTokens) return true;
  return false;
}

const invalidYaml = (why: string) => badRequest(`the body is not YAML that this server takes: ${why}`);

function reason(error: unknown): string {
  if (error instanceof ReferenceError) return "it must not contain aliases (*name)";
  if (error instanceof RangeError) return "it is nested too deep";
  return error instanceof Error ? error.message : String(error);
}
