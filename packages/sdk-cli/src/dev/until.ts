/** Resolves as a promise does, or to undefined as soon as a signal is aborted. */
export async function until<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value | undefined> {
  if (signal.aborted) return undefined;
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
  const listener = () => resolve(undefined);
  signal.addEventListener("abort", listener);
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", listener);
  }
}
