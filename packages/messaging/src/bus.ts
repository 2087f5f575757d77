import { setImmediate as othersTurn, setTimeout as sleep } from "node:timers/promises";
import {
  AckPolicy,
  DeliverPolicy,
  jetstream,
  type JetStreamClient,
  JetStreamApiError,
  jetstreamManager,
  type JetStreamManager,
} from "@nats-io/jetstream";
import { connect, type NatsConnection, nanos, PermissionViolationError } from "@nats-io/transport-node";
import type { Logger, Metrics } from "@flyte-ts/telemetry";
import { BundledPublish, type Travelling } from "./bundled-publish.js";
import { DeadLetters } from "./dead-letters.js";
import { type Delivered, toBusMessages, Unopened } from "./delivered.js";
import { gatherTime } from "./gather-time.js";
import { HeldNotes } from "./held-notes.js";
import { inboxPrefix } from "./inbox.js";
import { Lanes } from "./lanes.js";
import { checkSubject, fitting, isFolded, Unfoldable } from "./large-message.js";
import { MOST_BATCH_BYTES } from "./limits.js";
import { retry } from "./retry.js";
import { serverAddress } from "./server-address.js";
import { NoStream, type Outgoing, StoredPublish } from "./stored-publish.js";
import { StoreHealth } from "./store-health.js";
import { StoreProbe } from "./store-probe.js";
import { Streams, type StreamSpec } from "./streams.js";
import { Suspects } from "./suspects.js";

export interface BusMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  /** 1 for the first delivery. */
  readonly deliveries: number;
  ack(): void;
  /** Asks for another delivery after the delay. */
  nak(delayMs?: number): void;
  /** Puts it aside for good, as a dead letter with the reason why nobody can take it, and acknowledges it then. */
  discard(reason: string): void;
}

export interface SubscribeOptions {
  readonly stream: string;
  /** Consumers of the same durable name share the messages. */
  readonly durable: string;
  readonly subjects: readonly string[];
  /**
   * Messages handed out and not yet acknowledged, over all sharers: the back-pressure. Those that travelled together are taken
   * together, so that there may be some times as many for a moment.
   */
  readonly maxInFlight: number;
  /** Most messages in one call of the handler. */
  readonly batch: number;
  /** After this time without an acknowledgement a message is delivered again. Default 30 s. */
  readonly ackWaitMs?: number;
  /**
   * After a batch messages come together, unless a whole batch is there before: for handlers whose work is much the same for one
   * message and for a hundred. It lasts a multiple of what the batch took, at least and at most so many ms: the more there is to do, the
   * more of what follows on each other is done as one. The first message after a pause is handed out at once. By default nothing is gathered.
   */
  readonly gatherMs?: { readonly least: number; readonly most: number };
}

export interface OwnSubscribeOptions extends SubscribeOptions {
  /** After this time without its process the consumer goes, and with it what waits for it alone. */
  readonly ownForMs: number;
}

export interface PublishOptions {
  /** Asked before each try: when it says no, the message is not sent any more. */
  readonly while?: () => boolean;
}

export interface OwnSubscription extends Subscription {
  /** From now on only messages on these subjects come; at least one. Messages in hand may still be of others. */
  follow(subjects: readonly string[]): Promise<void>;
}

export interface Subscription {
  /** Takes no further messages and waits for the running handler. */
  close(): Promise<void>;
}

/**
 * Messages between services. Durable ones go through JetStream, which may lose what
 * it acknowledged when it crashes: a message is never the only holder of a fact.
 */
export interface Bus {
  /** Creates the stream or brings it to the specification; from then on it is made anew whenever the server has lost it. */
  ensureStream(spec: StreamSpec): Promise<void>;
  /**
   * Resolves when the stream has stored the message; goes on trying while the
   * server is away. Messages on one subject keep their order and may travel together.
   *
   * @throws BusClosed when the bus is closed first, PublishGivenUp when `while` said no, MessageTooLarge.
   */
  publish(subject: string, data: Uint8Array, options?: PublishOptions): Promise<void>;
  /** Sends to whoever listens now; nobody is told when it is lost. */
  publishVolatile(subject: string, data: Uint8Array): void;
  /** Hands batches to the handler, one call at a time; a handler that rejects gets its unacknowledged messages again. */
  subscribe(options: SubscribeOptions, onMessages: (messages: readonly BusMessage[]) => Promise<void> | void): Promise<Subscription>;
  /** The consumer is this process's own: it begins with what is published from now on, may change its subjects, and goes when it is closed. */
  subscribeOwn(
    options: OwnSubscribeOptions,
    onMessages: (messages: readonly BusMessage[]) => Promise<void> | void,
  ): Promise<OwnSubscription>;
  /** Removes a consumer that nobody will use again; what waits for it alone goes too. */
  removeConsumer(stream: string, durable: string): Promise<void>;
  subscribeVolatile(subject: string, onMessage: (subject: string, data: Uint8Array) => void): Subscription;
  /** Why the bus cannot be used now. */
  problem(): string | undefined;
  close(): Promise<void>;
}

export interface BusOptions {
  readonly url: string;
  /** Name of the connection, for the server's own monitoring. */
  readonly name: string;
  readonly logger: Logger;
  /** Counts dead letters. */
  readonly metrics?: Metrics | undefined;
  /**
   * False for services whose user may not make streams: `ensureStream` then waits until another service has made it. Whoever may change a
   * stream can have the server copy messages from and to any subject. Default true.
   */
  readonly makesStreams?: boolean;
}

/**
 * On their way to the server at once, be it one message or many together. All that there are would time out in
 * their own queue, be sent again, and never come to an end; a round trip takes 1 ms.
 */
const UNACKNOWLEDGED = 128;

/** After so long in handlers that wait for nothing the event loop has its turn, ms. */
const LONGEST_TURN_MS = 4;

/** Of what comes in, so many messages are taken to travel as one when it is bounded. */
const TOGETHER = 4;

/** After so long a lost consumer is made again, at first and when that was refused, ms. */
const AGAIN_MS = { first: 250, refused: 5_000 };

/** After so long without the server's word a message is sent again. */
const STORED_MS = 5_000;

/** The consumer is there with another configuration. */
const CONSUMER_EXISTS = 10148;
const STREAM_NOT_FOUND = 10059;

/** There is no such consumer, or not even the stream. */
const ABSENT: ReadonlySet<number> = new Set([10014, STREAM_NOT_FOUND]);

type VolatileHandler = (subject: string, data: Uint8Array) => void;

/** Connects, and stays connected: waits for the server at first and after every loss. */
export async function connectBus({ url, name, logger, metrics, makesStreams = true }: BusOptions): Promise<Bus> {
  const address = serverAddress(url);
  const inbox = inboxPrefix(address.user);
  const connection = await connect({
    ...address,
    inboxPrefix: inbox,
    name,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 200,
    reconnectJitter: 100,
    waitOnFirstConnect: true,
    pingInterval: 5_000,
    maxPingOut: 2,
  });
  const manager = await retry(() => jetstreamManager(connection, { checkAPI: false }), connection);
  const streams = new Streams({ connection, manager, logger, makes: makesStreams });
  const health = new StoreHealth(logger);
  const stored = new StoredPublish(connection, { timeoutMs: STORED_MS, inbox, health });
  const probe = new StoreProbe({ streams, publish: (message) => stored.publish(message), logger, name });
  const publish = (message: Outgoing) => stored.publish(message);
  const deadLetters = new DeadLetters({ streams, publish, logger, metrics });
  const held = new HeldNotes({ manager, streams, publish });
  return new NatsBus({ connection, manager, client: jetstream(connection), logger, streams, stored, deadLetters, held, health, probe });
}

interface NatsParts {
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

/** Largest volatile message that is taken, bytes. */
const MOST_VOLATILE_BYTES = 256 * 1024;

class NatsBus implements Bus {
  #down: string | undefined;
  readonly #subscriptions = new Set<Subscription>();
  readonly #outgoing: BundledPublish;

  constructor(private readonly parts: NatsParts) {
    const publish = async (message: Travelling) => {
      try {
        await parts.stored.publish(message.encode());
      } catch (error) {
        if (error instanceof NoStream) await parts.streams.restore();
        throw error;
      }
    };
    this.#outgoing = new BundledPublish(UNACKNOWLEDGED, (message) => retry(() => publish(message), parts.connection, message.wanted));
    void this.#watchStatus();
  }

  ensureStream(spec: StreamSpec): Promise<void> {
    const { probe, streams, deadLetters, held, logger } = this.parts;
    probe.start();
    // Services that may not make streams rest on these.
    for (const stream of [deadLetters, held])
      stream.ready().catch((error: unknown) => logger.warn({ error: String(error) }, "a stream cannot be made yet"));
    return streams.ensure(spec);
  }

  publish(subject: string, message: Uint8Array, { while: wanted }: PublishOptions = {}): Promise<void> {
    try {
      checkSubject(subject);
      const { data, headers } = fitting(message, this.parts.connection.info?.max_payload);
      return this.#outgoing.publish({ subject, data, headers, wanted });
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  publishVolatile(subject: string, data: Uint8Array): void {
    checkSubject(subject);
    if (!this.parts.connection.isClosed()) this.parts.connection.publish(subject, data);
  }

  subscribe(options: SubscribeOptions, onMessages: (messages: readonly BusMessage[]) => Promise<void> | void): Promise<Subscription> {
    return this.#subscribe(options, onMessages);
  }

  subscribeOwn(
    options: OwnSubscribeOptions,
    onMessages: (messages: readonly BusMessage[]) => Promise<void> | void,
  ): Promise<OwnSubscription> {
    return this.#subscribe(options, onMessages);
  }

  async #subscribe(
    options: SubscribeOptions & Partial<OwnSubscribeOptions>,
    onMessages: (messages: readonly BusMessage[]) => Promise<void> | void,
  ): Promise<OwnSubscription> {
    const subscription = new PullSubscription(this.parts, options, onMessages);
    await subscription.start();
    this.#subscriptions.add(subscription);
    return subscription;
  }

  async removeConsumer(stream: string, durable: string): Promise<void> {
    const { manager, connection } = this.parts;
    await retry(async () => {
      try {
        await manager.consumers.delete(stream, durable);
      } catch (error) {
        if (!(error instanceof JetStreamApiError) || !ABSENT.has(error.code)) throw error;
      }
    }, connection);
  }

  subscribeVolatile(subject: string, onMessage: (subject: string, data: Uint8Array) => void): Subscription {
    const subscription = this.parts.connection.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) this.#takeVolatile(message, onMessage);
      },
    });
    return {
      close: () => {
        subscription.unsubscribe();
        return Promise.resolve();
      },
    };
  }

  /** What a callback throws closes the connection, and with it all that the process hears. */
  #takeVolatile({ subject, data }: { readonly subject: string; readonly data: Uint8Array }, onMessage: VolatileHandler): void {
    const { logger } = this.parts;
    if (data.length > MOST_VOLATILE_BYTES) {
      logger.error({ subject, bytes: data.length, limit: MOST_VOLATILE_BYTES }, "message dropped: it is too large");
      return;
    }
    try {
      onMessage(subject, data);
    } catch (error) {
      logger.error({ subject, bytes: data.length, error: String(error) }, "message dropped: it cannot be read");
    }
  }

  problem(): string | undefined {
    return this.#down ?? this.parts.health.problem();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#subscriptions].map((subscription) => subscription.close()));
    const { connection, probe } = this.parts;
    probe.stop();
    if (connection.isClosed()) return;
    // A drain waits for the server; when that is away there is nothing to wait for.
    await Promise.race([connection.drain().catch(() => undefined), sleep(2_000, undefined, { ref: false })]);
    if (!connection.isClosed()) await connection.close();
  }

  async #watchStatus(): Promise<void> {
    for await (const status of this.parts.connection.status()) {
      if (status.type === "error" && status.error instanceof PermissionViolationError) {
        const { operation, subject } = status.error;
        this.parts.probe.refused(status.error);
        this.parts.logger.error({ operation, subject }, "the message bus refuses this subject to the user of this service");
      }
      if (status.type === "disconnect") this.#down = "the message bus is not connected";
      if (status.type === "reconnect") this.#down = undefined;
      if (status.type === "disconnect" || status.type === "reconnect")
        this.parts.logger.info({ status: status.type }, "message bus connection");
    }
  }
}

const DEFAULT_ACK_WAIT_MS = 30_000;

/** A durable pull consumer that outlives reconnects, restarts of the server and the loss of its consumer. */
class PullSubscription implements OwnSubscription {
  #subjects: readonly string[];
  /** By subject, so that many messages on one keep none of another waiting. */
  readonly #queue = new Lanes<BusMessage | Unopened>();
  readonly #suspects: Suspects;
  #closed = false;
  #working: Promise<void> | undefined;
  /** Until then messages come together, by `performance.now`. */
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
        // It is being made again, with the subjects of now.
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
        // Made by another version of the program, or with another configuration of it.
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
    // When the server is away the consumer goes by itself.
    await this.parts.manager.consumers.delete(this.options.stream, this.options.durable).catch(() => undefined);
  }

  async #work(): Promise<void> {
    // Messages that arrived in the same turn of the event loop go together.
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

  /** What is to be unfolded, or handled alone, waits as it came until its turn. */
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

  /** Opens a message; one that cannot be opened is put aside. */
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
