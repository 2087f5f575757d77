import type { LiteralJson } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { isGiven } from "../../format/given.js";
import type { Reading } from "../scalar/number.js";

const KINDS = ["scalar", "collection", "map", "offloadedMetadata"] as const;
const INDENT = 2;

/** Reads a literal in the JSON form of REST. */
export function readRaw(text: string): Reading<LiteralJson> {
  if (text.trim() === "") return { problem: 'Write a literal as JSON, such as {"scalar": {"noneType": {}}}.', isEmpty: true };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `Not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  const isLiteral = typeof value === "object" && value !== null && KINDS.filter((kind) => kind in value).length === 1;
  return isLiteral ? { value: value as LiteralJson } : { problem: `Not a literal: write an object with one of ${KINDS.join(", ")}.` };
}

/** Writes a literal as JSON, without fields that are not set. */
export function formatRaw(literal: LiteralJson): string {
  return JSON.stringify(withoutUnset(literal), null, INDENT);
}

/** Answers of REST have null, and empty texts, for fields that are not set. */
export function withoutUnset(literal: LiteralJson): LiteralJson {
  const { hash, metadata, ...value } = literal;
  return {
    ...(Object.fromEntries(Object.entries(value).filter(([, each]) => isGiven(each))) as LiteralJson),
    ...(isGiven(hash) && hash !== "" && { hash }),
    ...(isGiven(metadata) && Object.keys(metadata).length > 0 && { metadata }),
  };
}
