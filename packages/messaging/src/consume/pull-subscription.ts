import { setImmediate as yieldToEventLoop, setTimeout as sleep } from "node:timers/promises";
import { AckPolicy, DeliverPolicy, type JetStreamClient, JetStreamApiError, type JetStreamManager } from "@nats-io/jetstream";
import { type NatsConnection, nanos } from "@nats-io/transport-node";
import type { Logger } from "@flyte-ts/telemetry";
import type { BusMessage, ExclusiveSubscribeOptions, ExclusiveSubscription, SubscribeOptions } from "../bus.js";
import type { AckBuffer } from "./ack-buffer.js";
import type { DeadLetters } from "./dead-letters.js";
import { DeliveryQueue } from "./delivery-queue.js";
import { type Delivery, PackedDelivery, type StoreDeadLetter, type UnpackedMessage, unpackDelivery } from "./unpack-delivery.js";
import { nextBatchWindow } from "./batch-window.js";
import type { ProcessingMarkers } from "./processing-markers.js";
import { isCompressed, UnpackError } from "../publish/compression.js";
import { MAX_HANDLER_BATCH_BYTES } from "../limits.js";
import { retry } from "../retry.js";
import type { AckedPublisher } from "../publish/acked-publisher.js";
import type { StreamHealth } from "../server/stream-health.js";
import type { ServerSwitch } from "../server/server-switch.js";
import type { StreamProbe } from "../server/stream-probe.js";
import { STREAM_NOT_FOUND, type Streams } from "../server/streams.js";
import { PoisonMessageGuard } from "./poison-message-guard.js";

/** Time in handlers that never wait after which the loop yields to the event loop, ms. */
const MAX_BLOCKING_MS = 4;

/** Assumed number of messages per batch when the messages in flight are bounded. */
const BATCH_SIZE_ESTIMATE = 4;

/** Delay before a lost consumer is recreated, at first and after a failure, ms. */
const RESUBSCRIBE_MS = { first: 250, refused: 5_000 };

/** API error: the consumer exists with another configuration. */
const CONSUMER_EXISTS = 10148;

/** Metadata of a consumer that names its owner. */
export const CONSUMER_OWNER = "flyte-ts-owner";

/** API errors: the consumer or its stream does not exist. */
export const NOT_FOUND_CODES: ReadonlySet<number> = new Set([10014, STREAM_NOT_FOUND]);

/** A connection, and the parts of a bus that use it. */
export interface NatsDeps {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly client: JetStreamClient;
  readonly logger: Logger;
  readonly streams: Streams;
  readonly publisher: AckedPublisher;
  readonly acks: AckBuffer;
  readonly deadLetters: DeadLetters;
  readonly markers: ProcessingMarkers;
  readonly health: StreamHealth;
  readonly probe: StreamProbe;
  readonly serverSwitch: ServerSwitch;
}

const DEFAULT_ACK_WAIT_MS = 30_000;

/**
 * Lifetime of a request for messages, ms. The client also waits this long before it looks again for
 * a consumer that did not answer, as while a cluster elects its leader.
 */
const PULL_EXPIRY_MS = 2_000;

/**
 * A durable pull consumer that outlives reconnects, restarts of the server and the loss of its
 * consumer.
 */
export class PullSubscription implements ExclusiveSubscription {
  #subjects: readonly string[];
  /** Queues by `queueOf`. */
  readonly #queue = new DeliveryQueue();
  readonly #poisonGuard: PoisonMessageGuard;
  readonly #closing = new AbortController();
  #processing: Promise<void> | undefined;
  #resubscribing: Promise<void> | undefined;
  /** End of the gathering pause, by `performance.now`. */
  #batchWindowEnd = 0;
  #stopConsuming: (() => Promise<void | Error>) | undefined;

  constructor(
    private readonly deps: NatsDeps,
    private readonly options: SubscribeOptions & Partial<ExclusiveSubscribeOptions>,
    private readonly onMessages: (messages: readonly BusMessage[]) => Promise<void> | void,
  ) {
    this.#subjects = options.subjects;
    const { deadLetters, markers, publisher, logger } = deps;
    const { durable, ackWaitMs = DEFAULT_ACK_WAIT_MS } = options;
    this.#poisonGuard = new PoisonMessageGuard({
      deadLetters,
      markers,
      publish: (message) => publisher.publish(message),
      logger,
      durable,
      ackWaitMs,
    });
  }

  async setSubjects(subjects: readonly string[]): Promise<void> {
    this.#subjects = subjects;
    const { stream, durable } = this.options;
    const { manager, connection } = this.deps;
    await retry(async () => {
      try {
        await manager.consumers.update(stream, durable, { filter_subjects: [...this.#subjects] });
      } catch (error) {
        // The consumer is being recreated, with the current subjects.
        if (!(error instanceof JetStreamApiError) || !NOT_FOUND_CODES.has(error.code)) throw error;
      }
    }, connection);
  }

  async start(): Promise<void> {
    const { client, connection, logger } = this.deps;
    const { stream, durable, maxInFlight, batch } = this.options;
    await retry(() => this.#ensureConsumer(), connection, this.#isOpen);
    const consumer = await retry(() => client.consumers.get(stream, durable), connection, this.#isOpen);
    this.#poisonGuard.start();
    this.#queue.forgetSequences();
    const messages = await consumer.consume({
      max_messages: Math.ceil(Math.max(batch, Math.min(maxInFlight, 1_000)) / BATCH_SIZE_ESTIMATE),
      expires: PULL_EXPIRY_MS,
      idle_heartbeat: 1_000,
      abort_on_missing_resource: true,
      callback: (message) => {
        this.#enqueue(message);
        this.#processing ??= this.#processQueue();
      },
    });
    this.#stopConsuming = () => messages.close();
    void messages.closed().then((reason) => {
      if (!this.#isOpen() || connection.isClosed()) return;
      logger.warn({ durable, reason: reason ? String(reason) : "ended" }, "the consumer was lost; subscribing again");
      this.#resubscribing = this.#resubscribe();
    });
  }

  /** Creates the consumer, or gives an existing one the options of this subscription. */
  async #ensureConsumer(): Promise<void> {
    const { manager, streams } = this.deps;
    const { stream, durable, owner, ackWaitMs = DEFAULT_ACK_WAIT_MS, inactiveThresholdMs } = this.options;
    const mutableConfig = {
      filter_subjects: [...this.#subjects],
      max_ack_pending: this.#maxUnacknowledged,
      ack_wait: nanos(ackWaitMs),
      ...(owner === undefined ? {} : { metadata: { [CONSUMER_OWNER]: owner } }),
    };
    try {
      await manager.consumers.add(stream, {
        ...mutableConfig,
        durable_name: durable,
        ack_policy: AckPolicy.Explicit,
        deliver_policy: inactiveThresholdMs === undefined ? DeliverPolicy.All : DeliverPolicy.New,
        ...(inactiveThresholdMs === undefined ? {} : { inactive_threshold: nanos(inactiveThresholdMs) }),
      });
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND) await streams.recreateMissing();
      if (!(error instanceof JetStreamApiError) || error.code !== CONSUMER_EXISTS) throw error;
      // An older version or another configuration created it.
      await manager.consumers.update(stream, durable, mutableConfig);
    }
  }

  async #resubscribe(): Promise<void> {
    const { logger, connection } = this.deps;
    const { signal } = this.#closing;
    for (let delayMs = RESUBSCRIBE_MS.first; ; delayMs = RESUBSCRIBE_MS.refused) {
      await sleep(delayMs, undefined, { signal }).catch(() => undefined);
      if (!this.#isOpen() || connection.isClosed()) return;
      try {
        return await this.start();
      } catch (error) {
        if (!this.#isOpen()) return;
        logger.error({ durable: this.options.durable, error: String(error) }, "cannot subscribe again; retrying");
      }
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    // A subscription in progress could otherwise go on receiving.
    await this.#resubscribing;
    await this.#stopConsuming?.();
    await this.#processing;
    // Other subscribers need not wait until the server misses the acknowledgements.
    while (this.#queue.size > 0 && !this.deps.connection.isClosed()) this.#queue.dequeue()?.nak();
    this.deps.acks.flush();
    await this.#poisonGuard.close();
    if (this.options.inactiveThresholdMs === undefined) return;
    // When the server is unreachable and this call fails, the server deletes the consumer after
    // `inactiveThresholdMs`.
    await this.deps.manager.consumers.delete(this.options.stream, this.options.durable).catch(() => undefined);
  }

  readonly #isOpen = (): boolean => !this.#closing.signal.aborted;

  async #processQueue(): Promise<void> {
    // Batches the messages that arrive in this turn of the event loop.
    await Promise.resolve();
    let blockingSince = performance.now();
    while (this.#queue.size > 0 && this.#isOpen()) {
      await this.#waitForBatch();
      const batch = await this.#nextBatch();
      if (batch.length === 0) continue;
      const startedAt = performance.now();
      try {
        await this.onMessages(batch);
      } catch (error) {
        this.deps.logger.error(
          { durable: this.options.durable, error: error instanceof Error ? error.stack : String(error) },
          "message handler failed",
        );
        for (const message of batch) message.nak(1_000);
      }
      const now = performance.now();
      this.#batchWindowEnd = now + nextBatchWindow(now - startedAt, this.options.batchWindowMs);
      if (now - blockingSince < MAX_BLOCKING_MS) continue;
      await yieldToEventLoop();
      blockingSince = performance.now();
    }
    this.#processing = undefined;
  }

  /**
   * Queues a delivery unless it waits already. One that is compressed, or must be handled alone, is
   * opened only when it is next.
   */
  #enqueue(message: Delivery): void {
    const { subject, seq } = message;
    if (this.#queue.isWaiting(seq)) return;
    const suspect = this.#poisonGuard.isSuspect(message);
    if (!suspect) this.#poisonGuard.recordAccepted(message);
    const queue = this.#queueOf(subject);
    if (suspect || isCompressed(message)) this.#queue.push(queue, new PackedDelivery(message));
    else for (const part of this.#unpack(message)) this.#queue.push(queue, part);
  }

  readonly #acknowledge = (message: Delivery): void => this.deps.acks.add(message, this.#maxUnacknowledged);

  get #maxUnacknowledged(): number {
    return Math.ceil(this.options.maxInFlight / BATCH_SIZE_ESTIMATE);
  }

  #queueOf(subject: string): string {
    return this.options.queueOf?.(subject) ?? subject;
  }

  async #nextBatch(): Promise<readonly BusMessage[]> {
    const batch: BusMessage[] = [];
    let bytes = 0;
    for (let next = this.#queue.peek(); next !== undefined && !(next instanceof PackedDelivery); next = this.#queue.peek()) {
      if (batch.length === this.options.batch || bytes >= MAX_HANDLER_BATCH_BYTES) break;
      bytes += next.data.length;
      batch.push(next);
      this.#queue.dequeue();
    }
    if (batch.length > 0) return batch;
    const { message } = this.#queue.dequeue() as PackedDelivery;
    if (!this.#poisonGuard.isSuspect(message)) {
      this.#queue.unshift(this.#queueOf(message.subject), this.#unpack(message));
      return [];
    }
    const markers = await this.#poisonGuard.beginProcessing(message);
    return markers === undefined ? [] : this.#unpack(markers);
  }

  /** Opens a message; one that cannot be opened becomes a dead letter. */
  #unpack(message: Delivery): readonly UnpackedMessage[] {
    const { subject, seq, headers, info } = message;
    const letter = { durable: this.options.durable, subject, deliveries: info.deliveryCount };
    const { deadLetters } = this.deps;
    const storeDeadLetter: StoreDeadLetter = (data, index, reason) =>
      index === undefined
        ? deadLetters.store({ ...letter, id: `${seq}.refused`, data: message.data, headers }, "refused", reason)
        : deadLetters.store({ ...letter, id: `${seq}.refused.${index}`, data }, "refused", reason);
    try {
      return unpackDelivery(message, storeDeadLetter, this.#acknowledge);
    } catch (error) {
      if (!(error instanceof UnpackError)) throw error;
      deadLetters.store({ ...letter, id: `${seq}.limits`, data: message.data, headers }, "limits", error.message).then(
        () => message.ack(),
        () => message.nak(RESUBSCRIBE_MS.refused),
      );
      return [];
    }
  }

  async #waitForBatch(): Promise<void> {
    const restMs = this.#batchWindowEnd - performance.now();
    if (restMs > 0 && this.#queue.size < this.options.batch) await sleep(restMs);
  }
}
