import { setTimeout as sleep } from "node:timers/promises";
import { jetstream, JetStreamApiError, jetstreamManager } from "@nats-io/jetstream";
import { connect, PermissionViolationError } from "@nats-io/transport-node";
import type { Logger, Metrics } from "@flyte-ts/telemetry";
import { BundledPublish, type Travelling } from "./bundled-publish.js";
import { DeadLetters } from "./dead-letters.js";
import { HeldNotes } from "./held-notes.js";
import { inboxPrefix } from "./inbox.js";
import { checkSubject, fitting } from "./large-message.js";
import { ABSENT, type NatsParts, PullSubscription } from "./pull-subscription.js";
import { retry } from "./retry.js";
import { serverAddress } from "./server-address.js";
import { NoStream, type Outgoing, StoredPublish } from "./stored-publish.js";
import { StoreHealth } from "./store-health.js";
import { StoreProbe } from "./store-probe.js";
import { Streams, type StreamSpec } from "./streams.js";

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

/** After so long without the server's word a message is sent again. */
const STORED_MS = 5_000;

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
