import { type Backoff, retry } from "@flyte-ts/async";
import { type BlobEntry, type BlobStore, BlobUnavailableError } from "@flyte-ts/blobstore";

/** The part of the blob store that is used here. */
export interface Blobs extends Pick<BlobStore, "get" | "put" | "getFile" | "putFile" | "join"> {
  /** Lists all blobs below the URI. */
  listAll(prefix: string): Promise<readonly BlobEntry[]>;
}

export interface RetryBudget {
  /** Deadline, ms on the same scale as `now`. */
  readonly deadline: number;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

const RETRIES: Backoff = { initialMs: 200, maxMs: 10_000 };

/** Wraps a blob store with retries, with growing delays, until the deadline. */
export function retryingStore(store: BlobStore, budget: RetryBudget): Blobs {
  const withRetries = <T>(work: () => Promise<T>) => persist(work, budget);
  return {
    get: (uri, options) => withRetries(() => store.get(uri, options)),
    put: (uri, bytes, options) => withRetries(() => store.put(uri, bytes, options)),
    getFile: (uri, path) => withRetries(() => store.getFile(uri, path)),
    putFile: (uri, path) => withRetries(() => store.putFile(uri, path)),
    join: (uri, ...parts) => store.join(uri, ...parts),
    listAll: (prefix) => withRetries(() => all(store.list(prefix))),
  };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

function persist<T>(work: () => Promise<T>, { deadline, now, sleep }: RetryBudget): Promise<T> {
  const isRetryable = (error: unknown) => error instanceof BlobUnavailableError;
  return retry(work, { ...RETRIES, timeoutMs: deadline - now(), isRetryable }, { elapsed: now, sleep });
}
