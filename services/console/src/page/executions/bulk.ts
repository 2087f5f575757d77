/** Result of an act on one of several executions. */
export interface BulkResult<Key> {
  readonly key: Key;
  /** Undefined while it is not done. */
  readonly outcome: { readonly ok: true; readonly name: string | undefined } | { readonly ok: false; readonly reason: string } | undefined;
}

/** Calls that are under way at once: a browser has six connections. */
const AT_ONCE = 4;

/**
 * Does an act for each key, some at once, and reports the results as they come. A failure does not
 * stop the others.
 *
 * @param act resolves to the name of the execution that it made, if any
 */
export async function runBulk<Key>(
  keys: readonly Key[],
  act: (key: Key) => Promise<string | undefined>,
  report: (results: readonly BulkResult<Key>[]) => void,
): Promise<readonly BulkResult<Key>[]> {
  let results: readonly BulkResult<Key>[] = keys.map((key) => ({ key, outcome: undefined }));
  const waiting = keys.map((key, index) => ({ key, index }));
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { key, index } = next;
      const outcome = await act(key).then(
        (name) => ({ ok: true, name }) as const,
        (error: unknown) => ({ ok: false, reason: error instanceof Error ? error.message : String(error) }) as const,
      );
      results = results.with(index, { key, outcome });
      report(results);
    }
  };
  report(results);
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}
