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
  for (const row of pages.flat()) if (!shown.has(row.key.name)) shown.set(row.key.name, changed.get(row.key.name) ?? row);
  return { rows: [...shown.values()], fresh: newest.filter(({ key }) => !shown.has(key.name)).length };
}
