/**
 * True when objects and lists are nested more deeply than this. Iterates by level, since recursion
 * would exhaust the stack.
 */
export function isDeeper(value: unknown, levels: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? (Object.values(each) as unknown[]) : []));
  }
  return false;
}
