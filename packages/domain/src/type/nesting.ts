/**
 * How deep types, literals, bindings and conditions may hold one another. Protobuf's own limit in most languages is 100 messages,
 * so nothing that a client can send reaches this; it keeps recursive code far from the end of the stack.
 */
export const MAX_NESTING = 200;

/** Whether plain objects and arrays hold one another more than `limit` levels deep; walks without recursion. */
export function nestsDeeperThan(value: unknown, limit: number): boolean {
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
