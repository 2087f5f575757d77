import type { JsonValue } from "@bufbuild/protobuf";

const MAX_DEPTH = 100;

/** Parses a body as JSON; undefined when it is invalid or nested too deeply. */
export function jsonBody(bytes: Uint8Array): JsonValue | undefined {
  try {
    const value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as JsonValue;
    return nestsTooDeep(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Iterates by level: recursion could overflow the stack. */
function nestsTooDeep(value: JsonValue): boolean {
  let level: JsonValue[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? (Object.values(each) as JsonValue[]) : []));
  }
  return false;
}
