import { type Time, TokenBucket } from "@flyte-ts/async";
import { ApiError } from "./api-error.js";
import { Circuit } from "./circuit.js";
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
  readonly #circuit: Circuit;

  constructor(private readonly deps: EndpointDeps) {
    const { readsPerSecond, readBurst, writesPerSecond, writeBurst } = deps.rates;
    this.#reads = new TokenBucket({ burst: readBurst, intervalMs: 1_000 / readsPerSecond });
    this.#writes = new TokenBucket({ burst: writeBurst, intervalMs: 1_000 / writesPerSecond });
    this.#circuit = new Circuit(deps.random);
  }

  /** Time for which the circuit is open, ms; 0: calls are allowed. */
  get pauseMs(): number {
    return this.#circuit.pauseMs(this.deps.clock.now());
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
    this.#checkCircuit();
    const delayMs = bucket.reserve(clock.elapsed());
    if (delayMs > 0) {
      await clock.sleep(delayMs);
      this.#checkCircuit();
    }
    const startedMs = clock.elapsed();
    try {
      const result = await call(AbortSignal.timeout(CALL_TIMEOUT_MS));
      this.#circuit.succeeded();
      this.#count(operation, "ok", startedMs);
      return result;
    } catch (error) {
      this.#failed(error, operation, startedMs);
      throw error;
    }
  }

  #failed(error: unknown, operation: string, startedMs: number): void {
    if (!(error instanceof ApiError)) return this.#count(operation, "error", startedMs);
    if (error.passes)
      this.#circuit.failed(this.deps.clock.now(), { throttled: error.kind === "throttled", retryAfterMs: error.retryAfterMs });
    else this.#circuit.succeeded();
    this.#count(operation, error.kind, startedMs);
  }

  #checkCircuit(): void {
    const { pauseMs } = this;
    if (pauseMs === 0) return;
    throw new ApiError("unavailable", {
      code: "CircuitOpen",
      // Constant, so that thousands of attempts do not report each pause.
      message: `calls of ${this.deps.api} failed several times and pause`,
      retryAfterMs: pauseMs,
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
