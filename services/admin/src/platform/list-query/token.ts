/**
 * Parses a page token to a row offset; undefined when invalid. Clients compute tokens themselves,
 * so they remain decimal offsets.
 */
export function parseToken(token: string): number | undefined {
  if (token === "") return 0;
  if (!/^\+?\d{1,19}$/.test(token)) return undefined;
  const offset = Number(token);
  return Number.isSafeInteger(offset) ? offset : undefined;
}

/** Token of the next page; empty when this one was not full. */
export function nextToken(page: { readonly offset: number; readonly limit: number }, count: number): string {
  return count < page.limit || count === 0 ? "" : String(page.offset + count);
}
