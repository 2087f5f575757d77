import type { ExecutionRow } from "../../api/execution-row.js";

export interface MergedRows {
  /** Rows that are shown, in their state of now. */
  readonly rows: readonly ExecutionRow[];
  /** Executions that began after the list was read. */
  readonly fresh: number;
}

/**
 * Puts the newest executions into a list that was read before. Rows that are shown change in their
 * place; new ones are counted and push nothing away. A row that two pages have is shown once.
 */
export function mergeRows(pages: readonly (readonly ExecutionRow[])[], newest: readonly ExecutionRow[]): MergedRows {
  const changed = new Map(newest.map((row) => [row.key.name, row]));
  const shown = new Map<string, ExecutionRow>();
  for (const row of pages.flat()) if (!shown.has(row.key.name)) shown.set(row.key.name, newerOf(row, changed.get(row.key.name)));
  return { rows: [...shown.values()], fresh: newest.filter(({ key }) => !shown.has(key.name)).length };
}

/** An end is final: an answer that was read before it does not take it back. */
function newerOf(shown: ExecutionRow, read: ExecutionRow | undefined): ExecutionRow {
  return read === undefined || shown.look.terminal ? shown : read;
}

/** Returns the names of the rows that have not ended, those at the top of the list first. */
export function openNames(pages: readonly (readonly ExecutionRow[])[], limit: number): readonly string[] {
  const open = pages.flat().filter(({ look }) => !look.terminal);
  return [...new Set(open.map(({ key }) => key.name))].slice(0, limit);
}

/** Puts the state of now into the rows of pages. */
export function replaceRows<Page extends { readonly rows: readonly ExecutionRow[] }>(
  pages: readonly Page[],
  read: readonly ExecutionRow[],
): Page[] {
  const changed = new Map(read.map((row) => [row.key.name, row]));
  return pages.map((page) => ({ ...page, rows: page.rows.map((row) => newerOf(row, changed.get(row.key.name))) }));
}
