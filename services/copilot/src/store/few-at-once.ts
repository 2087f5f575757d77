/**
 * Runs `work` for each item, at most `most` concurrently. After the first failure it starts no more, and throws it when
 * the running ones have ended.
 */
export async function mapConcurrent<T, R>(items: readonly T[], most: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  let failed = false;
  const worker = async () => {
    while (next < items.length && !failed) {
      const index = next++;
      try {
        results[index] = await work(items[index] as T);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: Math.min(most, items.length) }, worker));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return results;
}
