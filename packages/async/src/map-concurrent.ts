/**
 * Maps items with at most `concurrency` calls in progress. Results have the order of the items.
 * After the first error it starts no more calls, and throws that error when the calls in progress
 * have ended.
 */
export async function mapConcurrent<T, R>(
  items: Iterable<T> | AsyncIterable<T>,
  concurrency: number,
  map: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  await forEachConcurrent(items, concurrency, async (item, index) => {
    results[index] = await map(item, index);
  });
  return results;
}

/** Runs `work` for each item, like {@link mapConcurrent} without results. */
export async function forEachConcurrent<T>(
  items: Iterable<T> | AsyncIterable<T>,
  concurrency: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let nextIndex = 0;
  let failure: { readonly error: unknown } | undefined;
  const worker = async (): Promise<void> => {
    try {
      while (failure === undefined) {
        const step = iterator.next();
        const { done, value } = step instanceof Promise ? await step : step;
        if (done === true || failure !== undefined) return;
        await work(value, nextIndex++);
      }
    } catch (error) {
      failure ??= { error };
    }
  };
  const workers = Array.isArray(items) ? Math.min(concurrency, items.length) : concurrency;
  await Promise.all(Array.from({ length: workers }, worker));
  if (failure === undefined) return;
  await iterator.return?.();
  throw failure.error;
}
