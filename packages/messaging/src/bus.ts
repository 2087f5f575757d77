import { setTimeout as sleep } from "node:timers/promises";
import { jetstream, JetStreamApiError, jetstreamManager } from "@nats-io/jetstream";
import {
  AuthorizationError,
  connect,
  type NatsConnection,
  type NodeConnectionOptions,
  PermissionViolationError,
} from "@nats-io/transport-node";
import type { Logger, Metrics } from "@flyte-ts/telemetry";
import { BatchPublisher, type Batch } from "./publish/batch-publisher.js";
import { AckBuffer } from "./consume/ack-buffer.js";
import { DeadLetters } from "./consume/dead-letters.js";
import { ProcessingMarkers } from "./consume/processing-markers.js";
import { inboxPrefix } from "./server/inbox.js";
import { checkSubject, compressIfTooLarge } from "./publish/compression.js";
import { CONSUMER_OWNER, NOT_FOUND_CODES, type NatsDeps, PullSubscription } from "./consume/pull-subscription.js";
import { retry } from "./retry.js";
import { serverAddress } from "./server/server-address.js";
import { type BusConnectionEnded, exitProcess, watchConnectionEnd } from "./server/connection-end.js";
import { NoStreamError, type OutgoingMessage, AckedPublisher } from "./publish/acked-publisher.js";
import { StreamHealth } from "./server/stream-health.js";
import { ServerChoice, ServerSwitch } from "./server/server-switch.js";
import { StreamProbe } from "./server/stream-probe.js";
import { Streams, type StreamSpec } from "./server/streams.js";

export interface BusMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  /** 1 for the first delivery. */
  readonly deliveries: number;
  ack(): void;
  /** Requests redelivery after the delay. */
  nak(delayMs?: number): void;
  /**
   * Stores the message as a dead letter with the reason why no consumer can take it, then
   * acknowledges it.
   */
  discard(reason: string): void;
}

export interface SubscribeOptions {
  readonly stream: string;
  /** Consumers of the same durable name share the messages. */
  readonly durable: string;
  readonly subjects: readonly string[];
  /** Name of the party that the consumer is for; {@link Bus.findConsumers} shows it. */
  readonly owner?: string;
  /**
   * Maximum of unacknowledged messages over all processes that share the consumer, for
   * backpressure. Batches are fetched whole, so the number may briefly be several times as large.
   */
  readonly maxInFlight: number;
  /** Maximum number of messages per call of the handler. */
  readonly batch: number;
  /** Time without an acknowledgement after which a message is redelivered. Default 30 s. */
  readonly ackWaitMs?: number;
  /**
   * Gathers messages after a batch unless a full batch is waiting, for handlers that cost nearly
   * the same for one message and for a hundred. The pause is a multiple of the duration of the
   * batch, between `min` and `max` ms, so that more load makes larger batches. The first message
   * after a pause is handed out at once. Default: no gathering.
   */
  readonly batchWindowMs?: { readonly min: number; readonly max: number };
  /**
   * Returns the name of the queue of a subject's messages in this process. Queues are served
   * round-robin, and each keeps its order. Default: a queue per subject.
   */
  readonly queueOf?: (subject: string) => string;
}

export interface ExclusiveSubscribeOptions extends SubscribeOptions {
  /**
   * Time without activity of its process after which the server deletes the consumer and the
   * messages that only this consumer would get.
   */
  readonly inactiveThresholdMs: number;
}

export interface PublishOptions {
  /** Called before each attempt to send; false gives the message up. */
  readonly shouldSend?: () => boolean;
}

export interface ExclusiveSubscription extends Subscription {
  /**
   * Replaces the subjects of the consumer (at least one). Messages already fetched may still be of
   * others.
   */
  setSubjects(subjects: readonly string[]): Promise<void>;
}

export interface Subscription {
  /** Stops fetching and waits for the running handler. */
  close(): Promise<void>;
}

/**
 * Carries messages between services. Durable ones go through JetStream, which may lose acknowledged
 * messages in a crash: a message is never the only record of a fact.
 */
export interface Bus {
  /**
   * Creates the stream or updates it to the specification, and recreates it whenever the server has
   * lost it.
   */
  ensureStream(spec: StreamSpec): Promise<void>;
  /**
   * Resolves when the stream has stored the message; retries while the server is unreachable.
   * Messages on one subject keep their order and may be sent as a batch.
   *
   * @throws BusClosed when the bus is closed first, PublishCancelled when `shouldSend` returned
   *   false, MessageTooLarge.
   */
  publish(subject: string, data: Uint8Array, options?: PublishOptions): Promise<void>;
  /** Sends to the current subscribers without acknowledgement; a loss is not reported. */
  publishEphemeral(subject: string, data: Uint8Array): void;
  /**
   * Hands batches to the handler, one call at a time; when it rejects, the unacknowledged messages
   * are redelivered.
   */
  subscribe(options: SubscribeOptions, onMessages: (messages: readonly BusMessage[]) => Promise<void> | void): Promise<Subscription>;
  /**
   * Creates a consumer of this process alone: it starts with messages published from now on, may
   * change its subjects, and is deleted by `close`.
   */
  subscribeExclusive(
    options: ExclusiveSubscribeOptions,
    onMessages: (messages: readonly BusMessage[]) => Promise<void> | void,
  ): Promise<ExclusiveSubscription>;
  /** Deletes a consumer that is no longer used, with the messages that only it would get. */
  removeConsumer(stream: string, durable: string): Promise<void>;
  /**
   * Maps each of the durable names that has a consumer to its owner, or to an empty text.
   *
   * @throws Error of the server, for instance without the permission to list consumers
   */
  findConsumers(stream: string, durables: readonly string[]): Promise<ReadonlyMap<string, string>>;
  subscribeEphemeral(subject: string, onMessage: (subject: string, data: Uint8Array) => void): Subscription;
  /** Reason why the bus cannot be used now; undefined when it can. */
  unhealthyReason(): string | undefined;
  /**
   * Calls the listener when the connection is lost, and when it is back: ephemeral messages may
   * have been lost between.
   *
   * @returns a function that removes the listener
   */
  onConnectionChange(listener: () => void): () => void;
  close(): Promise<void>;
}

export interface BusOptions {
  readonly url: string;
  /** Connection name, shown in the server's monitoring. */
  readonly name: string;
  readonly logger: Logger;
  /** Counts dead letters. */
  readonly metrics?: Metrics | undefined;
  /**
   * False for services whose user may not create streams: `ensureStream` then waits until another
   * service has created it. A user who may change a stream can have the server copy messages from
   * and to any subject. Default true.
   */
  readonly createsStreams?: boolean;
  /** Number of servers that hold a copy of each stream, 1 to 5. Default 1. */
  readonly streamReplicas?: number;
  /**
   * Called when the connection has ended for a reason that reconnecting cannot cure; the reason is
   * in the log. Default: ends the process with status 1, so that its supervisor starts it again.
   */
  readonly onEnded?: (error: BusConnectionEnded) => void;
}

/** Parts of a connection that the bus uses later. */
interface ConnectedServer {
  readonly connection: NatsConnection;
  /** Prefix of the subjects of answers to this user. */
  readonly inbox: string;
  readonly choice: ServerChoice;
}

/**
 * Maximum number of unacknowledged publishes. Without a bound all would time out in their own
 * queue, be sent again, and never finish; a round trip takes 1 ms.
 */
const MAX_IN_FLIGHT = 128;

/**
 * Time without an answer after which a request to JetStream is repeated, ms: a cluster that elects
 * a leader answers none.
 */
const API_TIMEOUT_MS = 3_000;
/** The same, for the question whether a consumer is still there. */
const CONSUMER_TIMEOUT_MS = 1_000;

/** Time without an acknowledgement after which a message is sent again, ms. */
const PUBLISH_ACK_TIMEOUT_MS = 3_000;

type EphemeralHandler = (subject: string, data: Uint8Array) => void;

/** Connects and keeps the connection: waits for the server at the start and after every loss. */
export async function connectBus({ url, ...options }: BusOptions): Promise<Bus> {
  const address = serverAddress(url);
  const inbox = inboxPrefix(address.user);
  const choice = new ServerChoice();
  const connection = await connectForGood({
    ...address,
    inboxPrefix: inbox,
    name: options.name,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 200,
    reconnectJitter: 100,
    waitOnFirstConnect: true,
    pingInterval: 2_000,
    maxPingOut: 2,
    reconnectToServer: choice.choose,
  });
  return openBus({ connection, inbox, choice }, options);
}

/** Makes a bus of a connection, which it closes. */
export async function openBus(
  { connection, inbox, choice }: ConnectedServer,
  { name, logger, metrics, createsStreams = true, streamReplicas = 1, onEnded = exitProcess }: Omit<BusOptions, "url">,
): Promise<Bus> {
  const manager = await retry(() => jetstreamManager(connection, { checkAPI: false, timeout: API_TIMEOUT_MS }), connection);
  const streams = new Streams({ connection, manager, logger, createsStreams, replicas: streamReplicas });
  const health = new StreamHealth(logger);
  const acks = new AckBuffer(() => connection.isClosed());
  const publisher = new AckedPublisher(connection, { timeoutMs: PUBLISH_ACK_TIMEOUT_MS, inbox, health, onSend: () => acks.flush() });
  const probe = new StreamProbe({ streams, publish: (message) => publisher.publish(message), logger, name });
  const serverSwitch = new ServerSwitch({ connection, health, logger }, choice);
  const publish = (message: OutgoingMessage) => publisher.publish(message);
  const deadLetters = new DeadLetters({ streams, publish, logger, metrics });
  const markers = new ProcessingMarkers({ manager, streams, publish });
  const bus = new NatsBus({
    connection,
    manager,
    client: jetstream(connection, { timeout: CONSUMER_TIMEOUT_MS }),
    logger,
    streams,
    publisher,
    acks,
    deadLetters,
    markers,
    health,
    probe,
    serverSwitch,
  });
  void watchConnectionEnd(connection, { logger, onEnded, isClosing: () => bus.closing });
  return bus;
}

/**
 * Connects once to check the credentials, then with retries after any error. Without
 * `ignoreAuthErrorAbort` the client closes a connection for good after two authentication errors
 * in a row, which an overloaded server causes by timeouts, and a server that loads new users by
 * refusals. With it, wrong credentials at the start would be tried forever.
 *
 * @throws AuthorizationError when the server rejects the credentials twice
 */
async function connectForGood(options: NodeConnectionOptions): Promise<NatsConnection> {
  const checked = await connect(options);
  await checked.close();
  return connect({ ...options, ignoreAuthErrorAbort: true });
}

/** Maximum size of an ephemeral message, bytes. */
const MAX_EPHEMERAL_BYTES = 256 * 1024;

class NatsBus implements Bus {
  /** True once `close` was called. */
  closing = false;
  #connected = true;
  #disconnectedReason: string | undefined;
  readonly #subscriptions = new Set<Subscription>();
  readonly #connectionListeners = new Set<() => void>();
  readonly #publisher: BatchPublisher;

  constructor(private readonly deps: NatsDeps) {
    const publish = async (message: Batch) => {
      try {
        await deps.publisher.publish(message.encode());
      } catch (error) {
        if (error instanceof NoStreamError) void deps.streams.recreateMissing();
        throw error;
      }
    };
    this.#publisher = new BatchPublisher(MAX_IN_FLIGHT, (message) => retry(() => publish(message), deps.connection, message.shouldSend));
    void this.#watchStatus();
  }

  ensureStream(spec: StreamSpec): Promise<void> {
    const { probe, streams, deadLetters, markers, logger } = this.deps;
    probe.start();
    // Services that may not create streams depend on these.
    for (const stream of [deadLetters, markers])
      stream.ensureStream().catch((error: unknown) => logger.warn({ error: String(error) }, "cannot create a stream of the message bus"));
    return streams.ensure(spec);
  }

  publish(subject: string, message: Uint8Array, { shouldSend }: PublishOptions = {}): Promise<void> {
    try {
      checkSubject(subject);
      const { data, headers } = compressIfTooLarge(message, this.deps.connection.info?.max_payload);
      return this.#publisher.publish({ subject, data, headers, shouldSend });
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  publishEphemeral(subject: string, data: Uint8Array): void {
    checkSubject(subject);
    if (!this.deps.connection.isClosed()) this.deps.connection.publish(subject, data);
  }

  subscribe(options: SubscribeOptions, onMessages: (messages: readonly BusMessage[]) => Promise<void> | void): Promise<Subscription> {
    return this.#subscribe(options, onMessages);
  }

  subscribeExclusive(
    options: ExclusiveSubscribeOptions,
    onMessages: (messages: readonly BusMessage[]) => Promise<void> | void,
  ): Promise<ExclusiveSubscription> {
    return this.#subscribe(options, onMessages);
  }

  async #subscribe(
    options: SubscribeOptions & Partial<ExclusiveSubscribeOptions>,
    onMessages: (messages: readonly BusMessage[]) => Promise<void> | void,
  ): Promise<ExclusiveSubscription> {
    const subscription = new PullSubscription(this.deps, options, onMessages);
    await subscription.start();
    this.#subscriptions.add(subscription);
    return {
      setSubjects: (subjects) => subscription.setSubjects(subjects),
      close: async () => {
        this.#subscriptions.delete(subscription);
        await subscription.close();
      },
    };
  }

  async removeConsumer(stream: string, durable: string): Promise<void> {
    const { manager, connection } = this.deps;
    await retry(async () => {
      try {
        await manager.consumers.delete(stream, durable);
      } catch (error) {
        if (!(error instanceof JetStreamApiError) || !NOT_FOUND_CODES.has(error.code)) throw error;
      }
    }, connection);
  }

  async findConsumers(stream: string, durables: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    for await (const { name, config } of this.deps.manager.consumers.list(stream))
      if (durables.includes(name)) found.set(name, config.metadata?.[CONSUMER_OWNER] ?? "");
    return found;
  }

  subscribeEphemeral(subject: string, onMessage: (subject: string, data: Uint8Array) => void): Subscription {
    const subscription = this.deps.connection.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) this.#handleEphemeral(message, onMessage);
      },
    });
    return {
      close: () => {
        subscription.unsubscribe();
        return Promise.resolve();
      },
    };
  }

  /** An exception in a callback closes the connection with all its subscriptions. */
  #handleEphemeral({ subject, data }: { readonly subject: string; readonly data: Uint8Array }, onMessage: EphemeralHandler): void {
    const { logger } = this.deps;
    if (data.length > MAX_EPHEMERAL_BYTES) {
      logger.error({ subject, bytes: data.length, limit: MAX_EPHEMERAL_BYTES }, "dropping a message that is too large");
      return;
    }
    try {
      onMessage(subject, data);
    } catch (error) {
      logger.error({ subject, bytes: data.length, error: String(error) }, "dropping a message that its handler cannot read");
    }
  }

  unhealthyReason(): string | undefined {
    return this.#disconnectedReason ?? this.deps.health.unhealthyReason();
  }

  onConnectionChange(listener: () => void): () => void {
    this.#connectionListeners.add(listener);
    return () => this.#connectionListeners.delete(listener);
  }

  async close(): Promise<void> {
    this.closing = true;
    await Promise.all([...this.#subscriptions].map((subscription) => subscription.close()));
    const { connection, probe, serverSwitch, acks } = this.deps;
    probe.stop();
    serverSwitch.stop();
    acks.flush();
    if (connection.isClosed()) return;
    // A drain waits for the server; when the server is unreachable there is nothing to wait for.
    await Promise.race([connection.drain().catch(() => undefined), sleep(2_000, undefined, { ref: false })]);
    if (!connection.isClosed()) await connection.close();
  }

  async #watchStatus(): Promise<void> {
    for await (const status of this.deps.connection.status()) {
      if (status.type === "error") this.#onError(status.error);
      if (status.type === "disconnect") this.#onDisconnect();
      if (status.type === "reconnect") this.#onReconnect();
    }
  }

  #onError(error: Error): void {
    const { probe, logger } = this.deps;
    if (error instanceof PermissionViolationError) {
      const { operation, subject } = error;
      probe.onPermissionError(error);
      logger.error({ operation, subject }, "the user of this service lacks the permission for this subject of the message bus");
    }
    if (!(error instanceof AuthorizationError)) return;
    const reason = `the message bus rejects the credentials of this service, or is too slow to check them: ${error.message}`;
    if (this.#disconnectedReason !== reason) logger.error({ error: error.message }, "cannot authenticate with the message bus; retrying");
    this.#disconnectedReason = reason;
  }

  /** Also called after each failed attempt to connect again. */
  #onDisconnect(): void {
    this.#disconnectedReason ??= "the message bus is not connected";
    if (this.#connected) this.#onChange(false);
  }

  /** The client reports a connection once for each attempt that failed before it. */
  #onReconnect(): void {
    if (this.#connected) return;
    this.#disconnectedReason = undefined;
    this.deps.publisher.resendPending();
    this.#onChange(true);
  }

  #onChange(connected: boolean): void {
    this.#connected = connected;
    this.deps.logger.info({ connected }, "message bus connection changed");
    for (const listener of this.#connectionListeners) listener();
  }
}
