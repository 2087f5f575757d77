/** Whether objects and lists are inside each other more than so many levels. It walks level by level: recursion would end the stack. */
export function isDeeper(value: unknown, levels: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? (Object.values(each) as unknown[]) : []));
  }
  return false;
}
