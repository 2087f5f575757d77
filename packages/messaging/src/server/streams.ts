import { JetStreamApiError, type JetStreamManager, RetentionPolicy, StorageType, type StreamInfo } from "@nats-io/jetstream";
import { type NatsConnection, nanos } from "@nats-io/transport-node";
import { setTimeout as sleep } from "node:timers/promises";
import { SingleFlight } from "@flyte-ts/async";
import { type Logger, LogSampler } from "@flyte-ts/telemetry";
import { isTooFewServers, retry } from "../retry.js";

export interface StreamSpec {
  readonly name: string;
  readonly subjects: readonly string[];
  /**
   * `workqueue`: a message is deleted when its one consumer acknowledged it; `interest`: when every
   * durable consumer of that time did; `limits`: after `maxAgeMs`.
   */
  readonly retention: "workqueue" | "interest" | "limits";
  /** Maximum age of a message, acknowledged or not. Default 0: no limit. */
  readonly maxAgeMs?: number;
  /** Size above which the oldest messages are deleted, bytes. Default: no limit. */
  readonly maxBytes?: number;
  /** Messages kept per subject. Default: no limit. */
  readonly maxMessagesPerSubject?: number;
}

const RETENTION = { workqueue: RetentionPolicy.Workqueue, interest: RetentionPolicy.Interest, limits: RetentionPolicy.Limits } as const;

/** API error: the stream exists with another configuration. */
const STREAM_NAME_IN_USE = 10058;
/** API error: there is no such stream. */
export const STREAM_NOT_FOUND = 10059;

/** Minimum interval between log lines about a stream that waits for servers, ms. */
const WAIT_LOG_INTERVAL_MS = 10_000;

/** Minimum interval between checks for missing streams, ms. */
const CHECK_INTERVAL_MS = 250;

interface StreamsDeps {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly logger: Logger;
  /**
   * False for a user that may not create or change streams: `ensure` then waits until another
   * service has created the stream.
   */
  readonly createsStreams: boolean;
  /** Number of servers that hold a copy of each stream. */
  readonly replicas: number;
}

/**
 * The streams that this process needs. After a server lost its data, they are recreated once a
 * publisher or consumer misses one.
 */
export class Streams {
  readonly #ensured = new Map<string, StreamSpec>();
  readonly #recreating = new SingleFlight<void>();
  #checkedAt = Number.NEGATIVE_INFINITY;
  readonly #waits = new LogSampler({ intervalMs: WAIT_LOG_INTERVAL_MS, now: () => performance.now() });

  constructor(private readonly deps: StreamsDeps) {}

  /**
   * Creates or updates the stream, or waits for it; retries while the server is unreachable, and
   * while too few servers of a cluster are online for the copies of the stream.
   */
  async ensure(spec: StreamSpec): Promise<void> {
    const { createsStreams, manager, connection } = this.deps;
    if (!createsStreams) {
      await retry(() => manager.streams.info(spec.name), connection);
      return;
    }
    const createOrUpdate = async () => {
      try {
        await this.#createOrUpdate(spec);
      } catch (error) {
        if (isTooFewServers(error)) this.#logWait(spec, error);
        throw error;
      }
    };
    await retry(createOrUpdate, connection);
    this.#ensured.set(spec.name, spec);
  }

  #logWait({ name }: StreamSpec, error: unknown): void {
    const { replicas, logger } = this.deps;
    if (this.#waits.sample(name) === undefined) return;
    logger.warn({ stream: name, replicas, error: String(error) }, "too few servers of the message bus are online for a stream; retrying");
  }

  /** Recreates all missing streams. Failures are logged: the caller that missed one tries again. */
  recreateMissing(): Promise<void> {
    return this.#recreating.run("", () => this.#recreateMissing());
  }

  async #recreateMissing(): Promise<void> {
    const sinceCheckMs = performance.now() - this.#checkedAt;
    // A stream that elects its leader looks missing to publishers, many times a second.
    if (sinceCheckMs < CHECK_INTERVAL_MS) await sleep(CHECK_INTERVAL_MS - sinceCheckMs, undefined, { ref: false });
    this.#checkedAt = performance.now();
    for (const spec of this.#ensured.values()) {
      try {
        if (await this.#createOrUpdate(spec)) this.deps.logger.warn({ stream: spec.name }, "recreated a missing stream");
      } catch (error) {
        this.deps.logger.warn({ stream: spec.name, error: String(error) }, "cannot recreate a missing stream");
        // A server that did not answer would not answer for the next stream either.
        if (!(error instanceof JetStreamApiError)) return;
      }
    }
  }

  /** Returns true when the stream did not exist. */
  async #createOrUpdate(spec: StreamSpec): Promise<boolean> {
    const { replicas, manager } = this.deps;
    const { streams } = manager;
    const config = {
      name: spec.name,
      subjects: [...spec.subjects],
      retention: RETENTION[spec.retention],
      max_age: nanos(spec.maxAgeMs ?? 0),
      max_bytes: spec.maxBytes ?? -1,
      max_msgs_per_subject: spec.maxMessagesPerSubject ?? -1,
      storage: StorageType.File,
      num_replicas: replicas,
    };
    try {
      const info: StreamInfo & { readonly did_create?: boolean } = await streams.add(config);
      return info.did_create === true;
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || error.code !== STREAM_NAME_IN_USE) throw error;
      await streams.update(spec.name, config);
      return false;
    }
  }
}
