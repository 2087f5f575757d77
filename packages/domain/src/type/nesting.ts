/**
 * Maximum nesting of types, literals, bindings and conditions. Protobuf's own limit in most
 * languages is 100 messages, so no client can reach this; it keeps recursive code far from a stack
 * overflow.
 */
export const MAX_NESTING = 200;

/**
 * True when plain objects and arrays are nested more than `limit` levels deep; does not recurse.
 */
export function exceedsDepth(value: unknown, limit: number): boolean {
  let level = [value].filter(isContainer);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= limit) return true;
    const next: object[] = [];
    for (const container of level) {
      for (const child of Array.isArray(container) ? container : Object.values(container)) {
        if (isContainer(child)) next.push(child);
      }
    }
    level = next;
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null && !(value instanceof Uint8Array);
}
