import { setImmediate as othersTurn, setTimeout as sleep } from "node:timers/promises";
import { AckPolicy, DeliverPolicy, type JetStreamClient, JetStreamApiError, type JetStreamManager } from "@nats-io/jetstream";
import { type NatsConnection, nanos } from "@nats-io/transport-node";
import type { Logger } from "@flyte-ts/telemetry";
import type { BusMessage, OwnSubscribeOptions, OwnSubscription, SubscribeOptions } from "./bus.js";
import type { DeadLetters } from "./dead-letters.js";
import { type Delivered, toBusMessages, Unopened } from "./delivered.js";
import { gatherTime } from "./gather-time.js";
import type { HeldNotes } from "./held-notes.js";
import { Lanes } from "./lanes.js";
import { isFolded, Unfoldable } from "./large-message.js";
import { MOST_BATCH_BYTES } from "./limits.js";
import { retry } from "./retry.js";
import type { StoredPublish } from "./stored-publish.js";
import type { StoreHealth } from "./store-health.js";
import type { StoreProbe } from "./store-probe.js";
import type { Streams } from "./streams.js";
import { Suspects } from "./suspects.js";

/** Time in handlers that never wait after which the loop yields to the event loop, ms. */
const LONGEST_TURN_MS = 4;

/** Assumed number of messages per bundle when the messages in flight are bounded. */
const TOGETHER = 4;

/** Delay before a lost consumer is recreated, at first and after a refusal, ms. */
const AGAIN_MS = { first: 250, refused: 5_000 };

/** API error: the consumer exists with another configuration. */
const CONSUMER_EXISTS = 10148;
const STREAM_NOT_FOUND = 10059;

/** API errors: the consumer or its stream does not exist. */
export const ABSENT: ReadonlySet<number> = new Set([10014, STREAM_NOT_FOUND]);

/** A connection, and the parts of a bus that use it. */
export interface NatsParts {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly client: JetStreamClient;
  readonly logger: Logger;
  readonly streams: Streams;
  readonly stored: StoredPublish;
  readonly deadLetters: DeadLetters;
  readonly held: HeldNotes;
  readonly health: StoreHealth;
  readonly probe: StoreProbe;
}

const DEFAULT_ACK_WAIT_MS = 30_000;

/** A durable pull consumer that outlives reconnects, restarts of the server and the loss of its consumer. */
export class PullSubscription implements OwnSubscription {
  #subjects: readonly string[];
  /** One lane per subject, so that many messages on one do not delay another. */
  readonly #queue = new Lanes<BusMessage | Unopened>();
  readonly #suspects: Suspects;
  #closed = false;
  #working: Promise<void> | undefined;
  /** End of the gathering pause, by `performance.now`. */
  #gathersUntil = 0;
  #stopConsuming: (() => Promise<void | Error>) | undefined;

  constructor(
    private readonly parts: NatsParts,
    private readonly options: SubscribeOptions & Partial<OwnSubscribeOptions>,
    private readonly onMessages: (messages: readonly BusMessage[]) => Promise<void> | void,
  ) {
    this.#subjects = options.subjects;
    const { deadLetters, held, stored, logger } = parts;
    const { durable, ackWaitMs = DEFAULT_ACK_WAIT_MS } = options;
    this.#suspects = new Suspects({ deadLetters, held, publish: (message) => stored.publish(message), logger, durable, ackWaitMs });
  }

  async follow(subjects: readonly string[]): Promise<void> {
    this.#subjects = subjects;
    const { stream, durable } = this.options;
    const { manager, connection } = this.parts;
    await retry(async () => {
      try {
        await manager.consumers.update(stream, durable, { filter_subjects: [...this.#subjects] });
      } catch (error) {
        // The consumer is being recreated, with the current subjects.
        if (!(error instanceof JetStreamApiError) || !ABSENT.has(error.code)) throw error;
      }
    }, connection);
  }

  async start(): Promise<void> {
    const { client, manager, connection, logger, streams } = this.parts;
    const { stream, durable, maxInFlight, batch, ackWaitMs = DEFAULT_ACK_WAIT_MS, ownForMs } = this.options;
    await retry(async () => {
      const inFlight = Math.ceil(maxInFlight / TOGETHER);
      const changeable = { filter_subjects: [...this.#subjects], max_ack_pending: inFlight, ack_wait: nanos(ackWaitMs) };
      try {
        await manager.consumers.add(stream, {
          ...changeable,
          durable_name: durable,
          ack_policy: AckPolicy.Explicit,
          deliver_policy: ownForMs === undefined ? DeliverPolicy.All : DeliverPolicy.New,
          ...(ownForMs === undefined ? {} : { inactive_threshold: nanos(ownForMs) }),
        });
      } catch (error) {
        if (error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND) await streams.restore();
        if (!(error instanceof JetStreamApiError) || error.code !== CONSUMER_EXISTS) throw error;
        // An older version or another configuration created it.
        await manager.consumers.update(stream, durable, changeable);
      }
    }, connection);
    const consumer = await retry(() => client.consumers.get(stream, durable), connection);
    const messages = await consumer.consume({
      max_messages: Math.ceil(Math.max(batch, Math.min(maxInFlight, 1_000)) / TOGETHER),
      expires: 10_000,
      idle_heartbeat: 1_000,
      abort_on_missing_resource: true,
      callback: (message) => {
        this.#take(message);
        this.#working ??= this.#work();
      },
    });
    this.#stopConsuming = () => messages.close();
    void messages.closed().then((reason) => {
      if (this.#closed || connection.isClosed()) return;
      logger.warn({ durable, reason: reason ? String(reason) : "ended" }, "consumer lost, subscribing again");
      void this.#startAgain();
    });
  }

  async #startAgain(): Promise<void> {
    const { logger, connection } = this.parts;
    for (let pause = AGAIN_MS.first; ; pause = AGAIN_MS.refused) {
      await sleep(pause);
      if (this.#closed || connection.isClosed()) return;
      try {
        return await this.start();
      } catch (error) {
        logger.error({ durable: this.options.durable, error: String(error) }, "subscribing again failed");
      }
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#stopConsuming?.();
    await this.#working;
    await this.#suspects.close();
    if (this.options.ownForMs === undefined) return;
    // When the server is unreachable, it deletes the consumer after `ownForMs`.
    await this.parts.manager.consumers.delete(this.options.stream, this.options.durable).catch(() => undefined);
  }

  async #work(): Promise<void> {
    // Batches the messages that arrive in this turn of the event loop.
    await Promise.resolve();
    let turnBegan = performance.now();
    while (this.#queue.size > 0 && !this.#closed) {
      await this.#gather();
      const batch = await this.#nextBatch();
      if (batch.length === 0) continue;
      const begun = performance.now();
      try {
        await this.onMessages(batch);
      } catch (error) {
        this.parts.logger.error(
          { durable: this.options.durable, error: error instanceof Error ? error.stack : String(error) },
          "message handler failed",
        );
        for (const message of batch) message.nak(1_000);
      }
      const now = performance.now();
      this.#gathersUntil = now + gatherTime(now - begun, this.options.gatherMs);
      if (now - turnBegan < LONGEST_TURN_MS) continue;
      await othersTurn();
      turnBegan = performance.now();
    }
    this.#working = undefined;
  }

  /** Queues a delivery; one that is compressed, or must be handled alone, is opened only when it is next. */
  #take(message: Delivered): void {
    const { subject } = message;
    const suspected = this.#suspects.has(message);
    if (suspected && !this.#suspects.queues(message)) return;
    if (!suspected) this.#suspects.take(message);
    if (suspected || isFolded(message)) this.#queue.push(subject, new Unopened(message));
    else for (const part of this.#open(message)) this.#queue.push(subject, part);
  }

  async #nextBatch(): Promise<readonly BusMessage[]> {
    const batch: BusMessage[] = [];
    let bytes = 0;
    for (let next = this.#queue.peek(); next !== undefined && !(next instanceof Unopened); next = this.#queue.peek()) {
      if (batch.length === this.options.batch || bytes >= MOST_BATCH_BYTES) break;
      bytes += next.data.length;
      batch.push(next);
      this.#queue.take();
    }
    if (batch.length > 0) return batch;
    const { message } = this.#queue.take() as Unopened;
    if (!this.#suspects.has(message)) {
      this.#queue.unshift(message.subject, this.#open(message));
      return [];
    }
    const held = await this.#suspects.hold(message);
    return held === undefined ? [] : this.#open(held);
  }

  /** Opens a message; one that cannot be opened becomes a dead letter. */
  #open(message: Delivered): readonly BusMessage[] {
    const { subject, seq, headers, info } = message;
    const letter = { durable: this.options.durable, subject, deliveries: info.deliveryCount };
    const { deadLetters } = this.parts;
    try {
      return toBusMessages(message, (data, index, reason) =>
        index === undefined
          ? deadLetters.bury({ ...letter, id: `${seq}.refused`, data: message.data, headers }, "refused", reason)
          : deadLetters.bury({ ...letter, id: `${seq}.refused.${index}`, data }, "refused", reason),
      );
    } catch (error) {
      if (!(error instanceof Unfoldable)) throw error;
      deadLetters.bury({ ...letter, id: `${seq}.limits`, data: message.data, headers }, "limits", error.message).then(
        () => message.ack(),
        () => message.nak(AGAIN_MS.refused),
      );
      return [];
    }
  }

  async #gather(): Promise<void> {
    const restMs = this.#gathersUntil - performance.now();
    if (restMs > 0 && this.#queue.size < this.options.batch) await sleep(restMs);
  }
}
