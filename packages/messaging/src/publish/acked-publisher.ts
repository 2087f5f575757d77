import { SlotTable } from "@flyte-ts/async";
import { JetStreamApiError } from "@nats-io/jetstream";
import { createInbox, type Msg, type MsgHdrs, type NatsConnection } from "@nats-io/transport-node";

import type { StreamHealth } from "../server/stream-health.js";

interface PendingAck {
  readonly subject: string;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly deadlineMs: number;
}

/** A message as sent. */
export interface OutgoingMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly headers?: MsgHdrs | undefined;
}

/** The server did not acknowledge storing the message in time. */
export class PublishNotAcknowledged extends Error {
  override readonly name = "PublishNotAcknowledged";
}

/** The subject has no stream: it was not created yet, or the server has lost it. */
export class NoStreamError extends Error {
  override readonly name = "NoStreamError";

  constructor() {
    super("no stream has the subject of the message");
  }
}

const EXPIRY_CHECK_MS = 500;

/** Radix of the ids in reply subjects, to keep these short. */
const ID_RADIX = 36;

/**
 * Timeout while the server fails to store messages, ms: a cluster that elects a leader answers
 * nothing, and the message has to be sent again soon after.
 */
const FAILING_TIMEOUT_MS = 1_000;

export interface AckedPublisherOptions {
  /** Time without an acknowledgement after which a message counts as lost, ms. */
  readonly timeoutMs: number;
  /** Subject prefix of answers. */
  readonly inbox: string;
  readonly health: StreamHealth;
  /** Called after a message was handed to the connection, before it is written to the socket. */
  readonly onSend?: () => void;
}

/**
 * Publishes to streams and awaits their acknowledgements. One subscription and one timer serve all:
 * the client's own requests create a timer and two errors with stacks for each message, a third of
 * a publisher's time.
 */
export class AckedPublisher {
  /** Messages in flight, by the number that ends their reply subject. */
  readonly #pending = new SlotTable<PendingAck>();
  readonly #inbox: string;
  readonly #timeoutMs: number;
  readonly #health: StreamHealth;
  readonly #onSend: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly connection: NatsConnection,
    { timeoutMs, inbox, health, onSend }: AckedPublisherOptions,
  ) {
    this.#health = health;
    this.#onSend = onSend;
    this.#timeoutMs = timeoutMs;
    this.#inbox = createInbox(inbox);
    connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error === null) this.#onAck(message);
      },
    });
  }

  /**
   * Resolves when a stream has stored the message.
   *
   * @throws PublishNotAcknowledged without an acknowledgement in time, NoStreamError,
   *   JetStreamApiError when the server rejected it.
   */
  publish({ subject, data, headers }: OutgoingMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      const timeoutMs = this.#health.isFailing(subject) ? Math.min(FAILING_TIMEOUT_MS, this.#timeoutMs) : this.#timeoutMs;
      const id = this.#pending.add({ subject, resolve, reject, deadlineMs: performance.now() + timeoutMs });
      try {
        const reply = `${this.#inbox}.${id.toString(ID_RADIX)}`;
        this.connection.publish(subject, data, headers === undefined ? { reply } : { reply, headers });
      } catch (error) {
        this.#pending.remove(id);
        throw error;
      }
      this.#onSend?.();
      this.#timer ??= setInterval(() => this.#expireOverdue(), EXPIRY_CHECK_MS);
    });
  }

  #onAck(message: Msg): void {
    const pending = this.#pending.remove(Number.parseInt(message.subject.slice(this.#inbox.length + 1), ID_RADIX));
    if (pending === undefined) return;
    const error = ackError(message);
    if (error === undefined) {
      this.#health.recordStored(pending.subject);
      pending.resolve();
      return;
    }
    if (!(error instanceof NoStreamError)) this.#health.recordFailure(pending.subject, error.message);
    pending.reject(error);
  }

  /**
   * Rejects the messages without acknowledgement after a reconnect, so that their publishers send
   * them again at once: answers to the connection before do not arrive.
   */
  resendPending(): void {
    for (const [id, { reject }] of this.#pending) {
      this.#pending.remove(id);
      reject(new PublishNotAcknowledged("the connection to the message bus was lost"));
    }
  }

  #expireOverdue(): void {
    const now = performance.now();
    const closed = this.connection.isClosed();
    for (const [id, { subject, deadlineMs, reject }] of this.#pending) {
      if (deadlineMs > now && !closed) continue;
      this.#pending.remove(id);
      const error = new PublishNotAcknowledged("the message bus did not acknowledge the message in time");
      this.#health.recordFailure(subject, error.message);
      reject(error);
    }
    if (this.#pending.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/**
 * Error in the answer, if any. An unreadable answer counts as none: an exception in a callback
 * closes the connection.
 */
function ackError(message: Msg): Error | undefined {
  try {
    return parseAckError(message);
  } catch (cause) {
    return new PublishNotAcknowledged("the message bus sent a malformed acknowledgement", { cause });
  }
}

function parseAckError(message: Msg): Error | undefined {
  if (message.data.length === 0) return new NoStreamError();
  const ack = message.json<{ stream?: string; seq?: number; error?: { code: number; err_code: number; description: string } } | null>();
  if (ack?.error) return new JetStreamApiError(ack.error);
  if (typeof ack?.stream !== "string") return new PublishNotAcknowledged("the message bus acknowledged the message without a stream");
  // A stream whose store fails acknowledges unstored messages with 0; streams count from 1.
  if (!(Number(ack.seq) > 0)) return new PublishNotAcknowledged(`stream ${ack.stream} acknowledged the message without storing it`);
  return undefined;
}
