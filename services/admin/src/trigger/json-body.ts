import type { JsonValue } from "@bufbuild/protobuf";

const MAX_DEPTH = 100;

/** The JSON in a body; undefined when it is none, or nests deeper than any honest message does. */
export function jsonBody(bytes: Uint8Array): JsonValue | undefined {
  try {
    const value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as JsonValue;
    return nestsTooDeep(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Level by level: what nests deep would outgrow the stack. */
function nestsTooDeep(value: JsonValue): boolean {
  let level: JsonValue[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? (Object.values(each) as JsonValue[]) : []));
  }
  return false;
}
