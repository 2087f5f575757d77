import { Lexer, parse } from "yaml";
import { isDeeper } from "../../object/depth.js";
import { badRequest } from "../api-error.js";
import { MAX_DEPTH, scanJsonBody } from "./request-body.js";

/**
 * Maximum number of YAML tokens, about 5,000 lines. Clients of Kubernetes send JSON even as YAML
 * (`kubectl apply --server-side`), which is not subject to this limit. A token costs some
 * microseconds, as much as hundreds of bytes of JSON.
 */
const MAX_TOKENS = 20_000;

/**
 * Parses a YAML body in linear time: JSON, which is valid YAML, with the JSON parser, and other
 * texts after their tokens were counted. Rejects aliases, since a few hundred bytes of them can
 * expand to gigabytes. The last of duplicate keys wins.
 *
 * @throws ApiError BadRequest
 */
export function parseYamlBody(text: string): unknown {
  const json = parseAsJson(text);
  if (json !== undefined) return json;
  if (hasMoreTokens(text, MAX_TOKENS)) throw invalidYaml(`it has more than ${MAX_TOKENS} tokens; send JSON instead`);
  const value = parseYamlText(text);
  if (isDeeper(value, MAX_DEPTH)) throw invalidYaml("it is nested too deeply");
  return value;
}

/** Parses a text that is JSON; undefined when it may be other YAML. */
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
    // Pretty errors and the check for unique keys would take quadratic time.
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

const invalidYaml = (why: string) => badRequest(`the body is not supported YAML: ${why}`);

function reason(error: unknown): string {
  if (error instanceof ReferenceError) return "it must not contain aliases (*name)";
  if (error instanceof RangeError) return "it is nested too deeply";
  return error instanceof Error ? error.message : String(error);
}
