import { Semaphore } from "@flyte-ts/async";
import type { CallResult, Call, CallKind, CallOf, ValueOf } from "../../engine/calls/call.js";
import { StartLimiter } from "./start-limiter.js";

/** Executes calls of one kind. A rejection counts as a transient error. */
export type CallHandler<K extends CallKind> = (question: CallOf<K>, execution: string) => Promise<CallResult<ValueOf<K>>>;

/** One handler for each kind of call. */
export type CallHandlers = { readonly [K in CallKind]: CallHandler<K> };

/** Maximum of calls that a group of handlers starts in one turn of the event loop: about 2 ms. */
const STARTS_PER_TURN = 8;

/**
 * Limits the concurrent calls of a group, and those that start in one turn of the event loop.
 * Executions take turns, so that thousands of calls of one do not delay another's.
 */
export class CallLimiter {
  readonly #semaphore: Semaphore;
  readonly #starts = new StartLimiter(STARTS_PER_TURN);

  /** @param concurrency maximum of concurrent calls */
  constructor(concurrency: number) {
    this.#semaphore = new Semaphore(concurrency);
  }

  /** Runs a call of an execution when the limits admit it. */
  run<T>(task: () => Promise<T>, execution: string): Promise<T> {
    return this.#semaphore.run(() => this.#starts.run(task), execution);
  }

  /** Returns handlers whose calls run within the limits. */
  limit<H extends Partial<CallHandlers>>(handlers: H): H {
    const limited = (handler: CallHandler<CallKind>): CallHandler<CallKind> => {
      return (question, execution) => this.run(() => handler(question, execution), execution);
    };
    return Object.fromEntries(Object.entries(handlers).map(([kind, handler]) => [kind, limited(handler as CallHandler<CallKind>)])) as H;
  }
}

/** Executes a call of any kind; never rejects. `execution`: key of the workflow that makes it. */
export async function executeCall(callHandlers: CallHandlers, question: Call, execution: string): Promise<CallResult> {
  try {
    return await (callHandlers[question.kind] as CallHandler<typeof question.kind>)(question as never, execution);
  } catch (error) {
    return { kind: "error", message: String(error) };
  }
}
