import { RestError } from "./rest-error.js";

/** State of a stream that is resumed, for the page that shows it. */
export type LiveState =
  | { readonly kind: "live" }
  /** The data are as old as `since`, milliseconds of the epoch; `error` is the latest failure. */
  | { readonly kind: "reconnecting"; readonly since: number; readonly error: RestError };

/** One decoded message and its place in the stream. */
export interface Resumable<Message> {
  readonly message: Message;
  /** Position after this message; empty: none. */
  readonly cursor: string;
}

export interface ResumeStreamOptions<Message> {
  /** Opens the stream after a cursor, at first an empty one. */
  readonly open: (cursor: string, signal: AbortSignal) => AsyncIterable<Resumable<Message>>;
  readonly signal: AbortSignal;
  readonly onState?: (state: LiveState) => void;
  /** Milliseconds of the epoch; default: the browser's clock. */
  readonly now?: () => number;
  /** At least 0, less than 1; default Math.random. */
  readonly random?: () => number;
  /** Waits; default: a timer. Rejects with the signal's reason when it is aborted. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 15_000;

/**
 * Delay before a try, ms: 1, 2, 4 … 15 s, each shortened by up to half at random, so that pages do
 * not return all at once.
 */
export function reconnectDelayMs(failures: number, random: () => number): number {
  return Math.min(FIRST_DELAY_MS * 2 ** failures, MAX_DELAY_MS) * (1 - random() / 2);
}

/**
 * Yields the messages of a stream until its end, and resumes it after its last cursor when it
 * breaks, without limit.
 *
 * @throws RestError when the failure is permanent, as for a caller without permission; the signal's
 *   reason when it is aborted.
 */
export async function* resumeStream<Message>(options: ResumeStreamOptions<Message>): AsyncGenerator<Message, void> {
  const { open, signal, onState, now = Date.now, random = Math.random, sleep = sleepMs } = options;
  let [cursor, failures] = ["", 0];
  let since: number | undefined = now();
  for (;;) {
    try {
      for await (const next of open(cursor, signal)) {
        if (since !== undefined) onState?.({ kind: "live" });
        [since, failures] = [undefined, 0];
        if (next.cursor !== "") cursor = next.cursor;
        yield next.message;
      }
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RestError) || !error.isTransient) throw error;
      since ??= now();
      onState?.({ kind: "reconnecting", since, error });
    }
    await sleep(reconnectDelayMs(failures++, random), signal);
  }
}

function sleepMs(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      clearTimeout(timer);
      reject(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", aborted);
      resolve();
    }, ms);
    if (signal.aborted) aborted();
    else signal.addEventListener("abort", aborted, { once: true });
  });
}
