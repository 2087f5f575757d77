import { retry } from "@flyte-ts/async";
import { Code, RpcError } from "@flyte-ts/client";

/**
 * Page size of lists; large enough to be fast, small enough for large templates to fit into one
 * answer.
 */
const PAGE_SIZE = 100;
const RETRY_TIMEOUT_MS = 60_000;

/**
 * Retries a call while the server is unreachable, with growing delays, for a minute. All calls of
 * an import are idempotent.
 */
export function retryWhileUnavailable<T>(call: () => Promise<T>): Promise<T> {
  const isRetryable = (error: unknown) => [Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED, Code.ABORTED].some((code) => isCode(error, code));
  return retry(call, { initialMs: 200, maxMs: 5_000, timeoutMs: RETRY_TIMEOUT_MS, isRetryable });
}

/** Iterates over all rows of a list, page by page. */
export async function* paginate<Answer extends { readonly token: string }, Row>(
  fetchPage: (page: { readonly limit: number; readonly token: string }) => Promise<Answer>,
  rows: (page: Answer) => readonly Row[],
): AsyncGenerator<Row> {
  let token = "";
  do {
    const pageToken = token;
    const page = await retryWhileUnavailable(() => fetchPage({ limit: PAGE_SIZE, token: pageToken }));
    yield* rows(page);
    token = page.token;
  } while (token !== "");
}

/** Undefined when the object does not exist. */
export async function undefinedIfNotFound<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await retryWhileUnavailable(call);
  } catch (error) {
    if (error instanceof RpcError && error.code === Code.NOT_FOUND) return undefined;
    throw error;
  }
}

/**
 * Returns the message of a permanent refusal; rethrows other errors, which end the import: it can
 * be restarted.
 */
export function permanentErrorMessage(error: unknown): string {
  if (error instanceof RpcError && error.code !== Code.UNAVAILABLE && error.code !== Code.UNAUTHENTICATED) return error.toString();
  throw error;
}

export const isCode = (error: unknown, code: Code): boolean => error instanceof RpcError && error.code === code;
