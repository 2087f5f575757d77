/** Answers of calls that were sent before the app was there. */
export interface EarlyAnswers {
  /** `fetch` whose answers are kept; its promise does not settle. It sends GET calls. */
  readonly begin: typeof fetch;
  /** `fetch` that takes the kept answer of an equal call, once; it sends all other calls. */
  readonly fetch: typeof fetch;
}

interface EarlyOptions {
  /** Default: that of the browser. */
  readonly send?: typeof fetch;
  readonly nowMs?: () => number;
}

/** An answer that no call has taken after this time is old. */
const KEPT_MS = 10_000;

type Call = Parameters<typeof fetch>;

export function createEarlyAnswers({ send = fetch.bind(globalThis), nowMs = Date.now }: EarlyOptions = {}): EarlyAnswers {
  const kept = new Map<string, { readonly answer: Promise<Response>; readonly untilMs: number }>();
  return {
    begin(...call) {
      const answer = send(...call);
      // The call that takes the answer reports its failure.
      answer.catch(() => undefined);
      kept.set(nameOf(call), { answer, untilMs: nowMs() + KEPT_MS });
      return new Promise(() => undefined);
    },
    fetch(...call) {
      if (kept.size === 0) return send(...call);
      const name = nameOf(call);
      const early = kept.get(name);
      kept.delete(name);
      for (const [each, { untilMs }] of kept) if (untilMs <= nowMs()) kept.delete(each);
      return early !== undefined && early.untilMs > nowMs() ? early.answer : send(...call);
    },
  };
}

/** Returns an equal text for calls that have equal answers. */
function nameOf([input, { method = "GET", headers = {} } = {}]: Call): string {
  return JSON.stringify([method, input instanceof Request ? input.url : input, headers]);
}

/** Answers of this page. */
export const earlyAnswers = createEarlyAnswers();
