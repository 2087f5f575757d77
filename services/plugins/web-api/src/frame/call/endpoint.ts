import { CircuitBreaker, type Time, TokenBucket } from "@flyte-ts/async";
import { ApiError } from "./api-error.js";
import type { WebApiMetrics } from "../metrics.js";

/** Rates at which an endpoint is called. */
export interface RateSettings {
  readonly readsPerSecond: number;
  readonly readBurst: number;
  readonly writesPerSecond: number;
  readonly writeBurst: number;
}

export interface EndpointDeps {
  /** Name of the API in metrics and reasons. */
  readonly api: string;
  readonly rates: RateSettings;
  readonly clock: Time;
  readonly random: () => number;
  readonly metrics?: WebApiMetrics | undefined;
}

/** All calls of one API: its rate limits, its circuit, and its metrics. */
export class Endpoint {
  readonly #reads: TokenBucket;
  readonly #writes: TokenBucket;
  readonly #circuit: CircuitBreaker;

  constructor(private readonly deps: EndpointDeps) {
    const { readsPerSecond, readBurst, writesPerSecond, writeBurst } = deps.rates;
    this.#reads = new TokenBucket({ burst: readBurst, intervalMs: 1_000 / readsPerSecond });
    this.#writes = new TokenBucket({ burst: writeBurst, intervalMs: 1_000 / writesPerSecond });
    this.#circuit = new CircuitBreaker(deps);
  }

  /** Time for which the circuit is open, ms; 0: calls are allowed. */
  get pauseMs(): number {
    return this.#circuit.restMs();
  }

  /** Waits for the rate limit of reads, then calls. @throws ApiError while the circuit is open */
  read<T>(operation: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.#call(this.#reads, operation, call);
  }

  /** Waits for the rate limit of writes, then calls. @throws ApiError while the circuit is open */
  write<T>(operation: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.#call(this.#writes, operation, call);
  }

  async #call<T>(bucket: TokenBucket, operation: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock } = this.deps;
    if (this.pauseMs > 0) throw this.#circuitError(this.pauseMs);
    const delayMs = bucket.reserve(clock.elapsed());
    if (delayMs > 0) await clock.sleep(delayMs);
    const waitMs = this.#circuit.admit();
    if (waitMs > 0) throw this.#circuitError(waitMs);
    const startedMs = clock.elapsed();
    try {
      const result = await call(AbortSignal.timeout(CALL_TIMEOUT_MS));
      this.#circuit.onAnswer();
      this.#count(operation, "ok", startedMs);
      return result;
    } catch (error) {
      this.#failed(error, operation, startedMs);
      throw error;
    }
  }

  #failed(error: unknown, operation: string, startedMs: number): void {
    // Other errors are of the answer's form: there was one.
    if (error instanceof ApiError && error.passes)
      this.#circuit.onNoAnswer(error.code, { throttled: error.kind === "throttled", retryAfterMs: error.retryAfterMs });
    else this.#circuit.onAnswer();
    this.#count(operation, error instanceof ApiError ? error.kind : "error", startedMs);
  }

  #circuitError(retryAfterMs: number): ApiError {
    return new ApiError("unavailable", {
      code: "CircuitOpen",
      // Constant, so that thousands of attempts do not report each pause.
      message: `calls of ${this.deps.api} failed several times and pause`,
      retryAfterMs,
    });
  }

  #count(operation: string, outcome: string, startedMs: number): void {
    const { api, metrics, clock } = this.deps;
    metrics?.calls.inc({ api, operation, outcome });
    metrics?.callSeconds.observe({ api, operation }, (clock.elapsed() - startedMs) / 1_000);
  }
}

/** Time after which a call is aborted, ms. */
const CALL_TIMEOUT_MS = 20_000;
