import { RunFailure, userError } from "../failure/failure.js";

/** Time from SIGTERM to SIGKILL where the environment names none, ms: that of Kubernetes. */
const DEFAULT_GRACE_MS = 30_000;
/** Time before SIGKILL that is kept for writing the error, ms. */
const RESERVED_MS = 5_000;

/** The pod is being terminated, and the task continued. */
class Terminated extends Error {
  override readonly name = "Terminated";
}

/**
 * Ends the run of a task that its own function does not end: by an error outside of its promise, a
 * promise that nothing will settle, or SIGTERM.
 */
export class Lifetime {
  readonly #abort = new AbortController();
  readonly #interrupted = Promise.withResolvers<never>();
  readonly #graceMs: number;
  #timer: NodeJS.Timeout | undefined;
  #over = false;

  constructor(environment: Readonly<Record<string, string | undefined>>) {
    const seconds = Number(environment["FLYTE_TS_GRACE_PERIOD_SECONDS"]);
    this.#graceMs = seconds > 0 ? seconds * 1_000 : DEFAULT_GRACE_MS;
    // The promise rejects only for a run that waits for it.
    this.#interrupted.promise.catch(() => undefined);
    process.on("uncaughtException", this.#onError).on("unhandledRejection", this.#onError);
    process.on("SIGTERM", this.#onTerminate);
    process.on("beforeExit", this.#onIdle);
    process.on("exit", this.#onExit);
  }

  /** Aborted by SIGTERM. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Settles as the task does, or rejects when something ended it before. */
  during<Result>(task: Promise<Result>): Promise<Result> {
    return Promise.race([task, this.#interrupted.promise]);
  }

  /** Stops watching the process: the outcome is decided. */
  end(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    process.off("beforeExit", this.#onIdle).off("exit", this.#onExit);
  }

  readonly #onError = (error: unknown): void => {
    if (this.#over) return;
    this.#interrupted.reject(error);
  };

  readonly #onIdle = (): void => {
    this.#interrupted.reject(
      new RunFailure(
        "the task's promise never settled: nothing is left that could resolve it. Is a callback missing?",
        userError("NeverSettled"),
      ),
    );
  };

  readonly #onTerminate = (): void => {
    if (this.#abort.signal.aborted) return;
    this.#abort.abort(new Terminated("the pod is being terminated (SIGTERM)"));
    const waitMs = Math.max(0, this.#graceMs - RESERVED_MS);
    this.#timer = setTimeout(() => this.#interrupted.reject(new Terminated(`the task did not end within ${waitMs} ms of SIGTERM`)), waitMs);
    this.#timer.unref();
  };

  readonly #onExit = (code: number): void => {
    process.stderr.write(`the task called process.exit(${code}) before it returned: it leaves no outputs\n`);
  };
}
