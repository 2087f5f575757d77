import { setTimeout as sleep } from "node:timers/promises";
import {
  AckPolicy,
  DeliverPolicy,
  jetstream,
  type JetStreamClient,
  JetStreamApiError,
  jetstreamManager,
  type JetStreamManager,
  type JsMsg,
  RetentionPolicy,
  StorageType,
} from "@nats-io/jetstream";
import { connect, type NatsConnection, nanos } from "@nats-io/transport-node";
import type { Logger } from "@flyte-ts/telemetry";

export interface StreamSpec {
  readonly name: string;
  readonly subjects: readonly string[];
  /**
   * `workqueue`: a message goes away when its one consumer acknowledged it; `interest`: when every
   * durable consumer that there was did; `limits`: it stays for `maxAgeMs`.
   */
  readonly retention: "workqueue" | "interest" | "limits";
  /** Longest life of a message, acknowledged or not. Default 0: no limit. */
  readonly maxAgeMs?: number;
}

export interface BusMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  /** 1 for the first delivery. */
  readonly deliveries: number;
  ack(): void;
  /** Asks for another delivery after the delay. */
  nak(delayMs?: number): void;
}

export interface SubscribeOptions {
  readonly stream: string;
  /** Consumers of the same durable name share the messages. */
  readonly durable: string;
  readonly subjects: readonly string[];
  /** Messages handed out and not yet acknowledged, over all sharers: the back-pressure. */
  readonly maxInFlight: number;
  /** Most messages in one call of the handler. */
  readonly batch: number;
  /** After this time without an acknowledgement a message is delivered again. Default 30 s. */
  readonly ackWaitMs?: number;
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
  /** Creates the stream or brings it to the specification. */
  ensureStream(spec: StreamSpec): Promise<void>;
  /**
   * Resolves when the stream has stored the message; goes on trying while the
   * server is away. A repeat with the same `id` within two minutes is stored once.
   *
   * @throws BusClosed when the bus is closed first.
   */
  publish(subject: string, data: Uint8Array, options?: { readonly id?: string }): Promise<void>;
  /** Sends to whoever listens now; nobody is told when it is lost. */
  publishVolatile(subject: string, data: Uint8Array): void;
  /** Hands batches to the handler, one call at a time; a handler that rejects gets its unacknowledged messages again. */
  subscribe(options: SubscribeOptions, onMessages: (messages: readonly BusMessage[]) => Promise<void> | void): Promise<Subscription>;
  subscribeVolatile(subject: string, onMessage: (subject: string, data: Uint8Array) => void): Subscription;
  /** Why the bus cannot be used now. */
  problem(): string | undefined;
  close(): Promise<void>;
}

export class BusClosed extends Error {
  override readonly name = "BusClosed";
}

export interface BusOptions {
  readonly url: string;
  /** Name of the connection, for the server's own monitoring. */
  readonly name: string;
  readonly logger: Logger;
}

const RETENTION = { workqueue: RetentionPolicy.Workqueue, interest: RetentionPolicy.Interest, limits: RetentionPolicy.Limits } as const;

/** The stream is there with another configuration. */
const STREAM_NAME_IN_USE = 10058;

/** Connects, and stays connected: waits for the server at first and after every loss. */
export async function connectBus({ url, name, logger }: BusOptions): Promise<Bus> {
  const connection = await connect({
    servers: url,
    name,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 200,
    reconnectJitter: 100,
    waitOnFirstConnect: true,
    pingInterval: 5_000,
    maxPingOut: 2,
  });
  const manager = await retry(() => jetstreamManager(connection, { checkAPI: false }), connection);
  return new NatsBus({ connection, manager, client: jetstream(connection), logger });
}

interface NatsParts {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly client: JetStreamClient;
  readonly logger: Logger;
}

class NatsBus implements Bus {
  #down: string | undefined;
  readonly #subscriptions = new Set<Subscription>();

  constructor(private readonly parts: NatsParts) {
    void this.#watchStatus();
  }

  async ensureStream(spec: StreamSpec): Promise<void> {
    const { manager, connection } = this.parts;
    const config = {
      name: spec.name,
      subjects: [...spec.subjects],
      retention: RETENTION[spec.retention],
      max_age: nanos(spec.maxAgeMs ?? 0),
      storage: StorageType.File,
    };
    await retry(async () => {
      try {
        await manager.streams.add(config);
      } catch (error) {
        if (!(error instanceof JetStreamApiError) || error.code !== STREAM_NAME_IN_USE) throw error;
        await manager.streams.update(spec.name, config);
      }
    }, connection);
  }

  async publish(subject: string, data: Uint8Array, options: { readonly id?: string } = {}): Promise<void> {
    const { client, connection } = this.parts;
    await retry(
      () => client.publish(subject, data, { timeout: 2_000, ...(options.id === undefined ? {} : { msgID: options.id }) }),
      connection,
    );
  }

  publishVolatile(subject: string, data: Uint8Array): void {
    if (!this.parts.connection.isClosed()) this.parts.connection.publish(subject, data);
  }

  async subscribe(options: SubscribeOptions, onMessages: (messages: readonly BusMessage[]) => Promise<void> | void): Promise<Subscription> {
    const subscription = new DurableSubscription(this.parts, options, onMessages);
    await subscription.start();
    this.#subscriptions.add(subscription);
    return subscription;
  }

  subscribeVolatile(subject: string, onMessage: (subject: string, data: Uint8Array) => void): Subscription {
    const subscription = this.parts.connection.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) onMessage(message.subject, message.data);
      },
    });
    return {
      close: () => {
        subscription.unsubscribe();
        return Promise.resolve();
      },
    };
  }

  problem(): string | undefined {
    return this.#down;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#subscriptions].map((subscription) => subscription.close()));
    const { connection } = this.parts;
    if (connection.isClosed()) return;
    // A drain waits for the server; when that is away there is nothing to wait for.
    await Promise.race([connection.drain().catch(() => undefined), sleep(2_000, undefined, { ref: false })]);
    if (!connection.isClosed()) await connection.close();
  }

  async #watchStatus(): Promise<void> {
    for await (const status of this.parts.connection.status()) {
      if (status.type === "disconnect") this.#down = "the message bus is not connected";
      if (status.type === "reconnect") this.#down = undefined;
      if (status.type === "disconnect" || status.type === "reconnect")
        this.parts.logger.info({ status: status.type }, "message bus connection");
    }
  }
}

/** A durable pull consumer that outlives reconnects, restarts of the server and the loss of its consumer. */
class DurableSubscription implements Subscription {
  readonly #queue: JsMsg[] = [];
  #closed = false;
  #working: Promise<void> | undefined;
  #stopConsuming: (() => Promise<void | Error>) | undefined;

  constructor(
    private readonly parts: NatsParts,
    private readonly options: SubscribeOptions,
    private readonly onMessages: (messages: readonly BusMessage[]) => Promise<void> | void,
  ) {}

  async start(): Promise<void> {
    const { client, manager, connection, logger } = this.parts;
    const { stream, durable, subjects, maxInFlight, batch, ackWaitMs = 30_000 } = this.options;
    await retry(
      () =>
        manager.consumers.add(stream, {
          durable_name: durable,
          ack_policy: AckPolicy.Explicit,
          deliver_policy: DeliverPolicy.All,
          filter_subjects: [...subjects],
          max_ack_pending: maxInFlight,
          ack_wait: nanos(ackWaitMs),
        }),
      connection,
    );
    const consumer = await retry(() => client.consumers.get(stream, durable), connection);
    const messages = await consumer.consume({
      max_messages: Math.max(batch, Math.min(maxInFlight, 1_000)),
      expires: 10_000,
      idle_heartbeat: 1_000,
      abort_on_missing_resource: true,
      callback: (message) => {
        this.#queue.push(message);
        this.#working ??= this.#work();
      },
    });
    this.#stopConsuming = () => messages.close();
    void messages.closed().then(async (reason) => {
      if (this.#closed || connection.isClosed()) return;
      logger.warn({ durable, reason: reason ? String(reason) : "ended" }, "consumer lost, subscribing again");
      await sleep(250);
      if (!this.#closed)
        await this.start().catch((error: unknown) => logger.error({ durable, error: String(error) }, "subscribing again failed"));
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#stopConsuming?.();
    await this.#working;
  }

  async #work(): Promise<void> {
    // Messages that arrived in the same turn of the event loop go together.
    await Promise.resolve();
    while (this.#queue.length > 0 && !this.#closed) {
      const batch = this.#queue.splice(0, this.options.batch).map(toBusMessage);
      try {
        await this.onMessages(batch);
      } catch (error) {
        this.parts.logger.error(
          { durable: this.options.durable, error: error instanceof Error ? error.stack : String(error) },
          "message handler failed",
        );
        for (const message of batch) message.nak(1_000);
      }
    }
    this.#working = undefined;
  }
}

function toBusMessage(message: JsMsg): BusMessage {
  return {
    subject: message.subject,
    data: message.data,
    deliveries: message.info.deliveryCount,
    ack: () => message.ack(),
    nak: (delayMs) => message.nak(delayMs),
  };
}

/** Repeats until it succeeds or the connection is closed: what fails here fails because the server is away or is starting. */
async function retry<T>(attempt: () => Promise<T>, connection: NatsConnection): Promise<T> {
  for (let delay = 50; ; delay = Math.min(delay * 2, 1_000)) {
    if (connection.isClosed()) throw new BusClosed("the message bus is closed");
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof JetStreamApiError && isRefusal(error)) throw error;
      if (connection.isClosed()) throw new BusClosed("the message bus is closed", { cause: error });
      await sleep(delay);
    }
  }
}

/** An answer of the server to a wrong request; 5xx and 404 pass while a server starts. */
function isRefusal(error: JetStreamApiError): boolean {
  return error.status === 400;
}
