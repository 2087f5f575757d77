import { CircuitBreaker, type Time } from "@flyte-ts/async";
import { codeName, RpcError } from "@flyte-ts/rpc";
import { CallFailure, callFailure, isNoAnswer } from "./call-failure.js";
import { CallLimiter, type Lane } from "./call-limiter.js";
import type { ConnectorCalls } from "./connector-calls.js";
import type { EndpointConfig } from "./endpoint-config.js";
import { TaskSlots } from "./task-slots.js";
import { UnsupportedCalls } from "../observe/unsupported-calls.js";

/**
 * Time after a change of the announced task types, ms, in which replicas of a connector may differ:
 * a rolling update of a Deployment takes minutes.
 */
const UPDATE_MS = 5 * 60_000;

export interface EndpointDeps {
  readonly calls: ConnectorCalls;
  readonly clock: Time;
  readonly random: () => number;
  /** Called after each call, with the name of its status code. */
  readonly onCall?: (call: {
    readonly endpoint: string;
    readonly call: string;
    readonly code: string;
    readonly durationMs: number;
  }) => void;
  /** Called when the endpoint answers after several calls in a row without an answer. */
  readonly onBack?: (endpoint: Endpoint) => void;
}

/** A call that waits for its turn. */
export interface CallTurn {
  /** Name of the RPC. */
  readonly name: string;
  readonly lane: Lane;
  /** Evaluated when the call's turn comes; true drops the call. */
  readonly isObsolete?: () => boolean;
  /** True: the deadline is that of the task, so exceeding it says nothing about the endpoint. */
  readonly isLong?: boolean;
}

export interface EndpointCall<T> extends CallTurn {
  readonly run: (calls: ConnectorCalls) => Promise<T>;
}

/** Sends the call whose turn it is. @throws CallFailure */
export type Send = <T>(run: (calls: ConnectorCalls) => Promise<T>) => Promise<T>;

/**
 * One address of connectors with its own limits, so that a slow or unreachable endpoint delays no
 * other.
 */
export class Endpoint {
  readonly slots: TaskSlots;
  readonly unsupported = new UnsupportedCalls();
  readonly #limiter: CallLimiter;
  readonly #breaker: CircuitBreaker;
  #listing = 0;
  /** Task types that the connectors announced last, as text. */
  #announced: string | undefined;
  #changedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    readonly config: EndpointConfig,
    private readonly deps: EndpointDeps,
  ) {
    this.slots = new TaskSlots(config.limits);
    this.#limiter = new CallLimiter(config.limits, deps.clock);
    this.#breaker = new CircuitBreaker(deps);
  }

  get name(): string {
    return this.config.name;
  }

  /** True unless several calls in a row had no answer. */
  get isAnswering(): boolean {
    return !this.#breaker.isOpen;
  }

  /** The failure of the last call, if that had no answer. */
  lastNoAnswer(): CallFailure | undefined {
    const { reason } = this.#breaker;
    return reason === "" ? undefined : new CallFailure(reason, { kind: "unavailable", withoutEffect: true });
  }

  /** Number of calls that wait for their turn or are in progress. */
  get openCalls(): number {
    return this.#limiter.waiting + this.#limiter.running + this.#listing;
  }

  /** Task types whose creation may be repeated. */
  isIdempotent(taskType: string): boolean {
    return this.config.idempotentTaskTypes.includes(taskType);
  }

  /**
   * Calls the connector when its limits allow it.
   *
   * @throws CallFailure
   */
  call<T>({ run, ...turn }: EndpointCall<T>): Promise<T> {
    return this.turn(turn, (send) => send(run));
  }

  /**
   * Waits until the limits allow a call, and lets `act` prepare and send it. While the connector is
   * away, few calls get a turn, so that little is prepared in vain.
   *
   * @throws CallFailure, and what `act` throws
   */
  async turn<T>(turn: CallTurn, act: (send: Send) => Promise<T>): Promise<T> {
    this.#refuseWhileOpen(turn.name);
    return this.#limiter.run(turn.lane, async () => {
      refuseObsolete(turn);
      const delayMs = this.#breaker.admit();
      if (delayMs > 0) throw this.#away(turn.name, delayMs);
      let isSent = false;
      try {
        return await act((run) => {
          refuseObsolete(turn);
          isSent = true;
          return this.#observed({ ...turn, run });
        });
      } finally {
        if (!isSent) this.#breaker.withdraw();
      }
    });
  }

  /**
   * Requests the list of connectors. Bypasses the limits and the circuit breaker, so that an answer
   * ends an outage.
   *
   * @throws CallFailure
   */
  async listAgents() {
    this.#listing++;
    try {
      return await this.#observed({ name: "ListAgents", lane: "poll", run: (calls) => calls.listAgents() });
    } finally {
      this.#listing--;
    }
  }

  /** Records what the connectors announce, in any order. The first announcement is no change. */
  onAnnounced(types: readonly object[]): void {
    const announced = JSON.stringify(types.map((type) => JSON.stringify(type)).sort());
    if (this.#announced !== undefined && this.#announced !== announced) this.#changedAtMs = this.deps.clock.elapsed();
    this.#announced = announced;
  }

  /**
   * Returns a failure that lets the call be repeated, when a connector did not know the task or its
   * type while connectors are replaced: another replica may know it.
   */
  whileUpdating(failure: CallFailure): CallFailure {
    if (failure.kind !== "missing" || this.deps.clock.elapsed() - this.#changedAtMs >= UPDATE_MS) return failure;
    const message = `${failure.message} (the connectors of this endpoint have changed, and another replica may know it: repeated)`;
    return new CallFailure(message, { kind: "unavailable", withoutEffect: true, cause: failure });
  }

  /** Calls the listener each time that a connection to the endpoint is established. */
  onConnect(listener: () => void): void {
    this.deps.calls.onConnect(listener);
  }

  close(): void {
    this.deps.calls.close();
  }

  /** Rejects a call while the circuit breaker is open instead of queueing it. */
  #refuseWhileOpen(name: string): void {
    const delayMs = this.#breaker.restMs();
    if (delayMs > 0) throw this.#away(name, delayMs);
  }

  #away(name: string, retryAfterMs: number): CallFailure {
    const message = this.#breaker.reason || `connector endpoint ${JSON.stringify(this.name)}, ${name}: no answer`;
    return new CallFailure(message, { kind: "unavailable", withoutEffect: true, retryAfterMs });
  }

  #onAnswer(): void {
    const wasAway = this.#breaker.isOpen;
    this.#breaker.onAnswer();
    if (wasAway) this.deps.onBack?.(this);
  }

  async #observed<T>({ name, run, isLong = false }: EndpointCall<T>): Promise<T> {
    const { calls, clock, onCall } = this.deps;
    const startedAt = clock.elapsed();
    const record = (code: string) => onCall?.({ endpoint: this.name, call: name, code, durationMs: clock.elapsed() - startedAt });
    try {
      const answer = await run(calls);
      this.#onAnswer();
      record("OK");
      return answer;
    } catch (error) {
      const failure = callFailure(error, this.name, name);
      if (isNoAnswer(error) && !(isLong && !failure.withoutEffect)) {
        this.#breaker.onNoAnswer(failure.message);
        this.unsupported.clear();
      } else this.#onAnswer();
      record(error instanceof RpcError ? codeName(error.code) : "UNKNOWN");
      throw failure;
    }
  }
}

function refuseObsolete({ name, isObsolete }: CallTurn): void {
  if (isObsolete?.() === true) throw new CallFailure(`${name} is no longer needed`, { kind: "unavailable", withoutEffect: true });
}
