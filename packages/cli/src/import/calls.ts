import { setTimeout as sleep } from "node:timers/promises";
import { Code, RpcError } from "@flyte-ts/client";

/** Page size of lists; large enough to be fast, small enough for large templates to fit into one answer. */
const PAGE = 100;
const PATIENCE_MS = 60_000;

/** Retries a call while the server is unreachable, with growing delays, for a minute. All calls of an import are idempotent. */
export async function patiently<T>(call: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  for (let pause = 200; ; pause = Math.min(pause * 2, 5_000)) {
    try {
      return await call();
    } catch (error) {
      const passing =
        error instanceof RpcError && [Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED, Code.ABORTED].some((code) => code === error.code);
      if (!passing || Date.now() > deadline) throw error;
      await sleep(pause);
    }
  }
}

/** Iterates over all rows of a list, page by page. */
export async function* allOf<Answer extends { readonly token: string }, Row>(
  ask: (page: { readonly limit: number; readonly token: string }) => Promise<Answer>,
  rowsOf: (answer: Answer) => readonly Row[],
): AsyncGenerator<Row> {
  let token = "";
  do {
    const asked = token;
    const answer = await patiently(() => ask({ limit: PAGE, token: asked }));
    yield* rowsOf(answer);
    token = answer.token;
  } while (token !== "");
}

/** Undefined when the object does not exist. */
export async function found<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await patiently(call);
  } catch (error) {
    if (error instanceof RpcError && error.code === Code.NOT_FOUND) return undefined;
    throw error;
  }
}

/** Processes all items with bounded concurrency. */
export async function forEachConcurrent<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const next = items.values();
  const worker = async () => {
    for (const item of next) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Returns the message of a permanent refusal; rethrows other errors, which end the import: it can be restarted. */
export function refusalOf(error: unknown): string {
  if (error instanceof RpcError && error.code !== Code.UNAVAILABLE && error.code !== Code.UNAUTHENTICATED) return error.toString();
  throw error;
}

export const isCode = (error: unknown, code: Code): boolean => error instanceof RpcError && error.code === code;
