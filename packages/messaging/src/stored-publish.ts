import { JetStreamApiError } from "@nats-io/jetstream";
import { createInbox, type Msg, type MsgHdrs, type NatsConnection } from "@nats-io/transport-node";

import type { StoreHealth } from "./store-health.js";

interface Waiting {
  readonly subject: string;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly until: number;
}

/** A message as sent. */
export interface Outgoing {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly headers?: MsgHdrs | undefined;
}

/** The server did not acknowledge storing the message in time. */
export class NotStored extends Error {
  override readonly name = "NotStored";
}

/** The subject has no stream: it was not created yet, or the server has lost it. */
export class NoStream extends Error {
  override readonly name = "NoStream";

  constructor() {
    super("no stream takes the message");
  }
}

const LOOK_EVERY_MS = 500;

export interface StoredPublishOptions {
  readonly timeoutMs: number;
  /** Subject prefix of answers. */
  readonly inbox: string;
  readonly health: StoreHealth;
}

/**
 * Publishes to streams and awaits their acknowledgements. One subscription and one timer serve all: the client's own
 * requests create a timer and two errors with stacks for each message, a third of a publisher's time.
 */
export class StoredPublish {
  readonly #waiting = new Map<string, Waiting>();
  readonly #inbox: string;
  readonly #timeoutMs: number;
  readonly #health: StoreHealth;
  #last = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly connection: NatsConnection,
    { timeoutMs, inbox, health }: StoredPublishOptions,
  ) {
    this.#health = health;
    this.#timeoutMs = timeoutMs;
    this.#inbox = createInbox(inbox);
    connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error === null) this.#acknowledged(message);
      },
    });
  }

  /**
   * Resolves when a stream has stored the message.
   *
   * @throws NotStored without an answer in time, NoStream, JetStreamApiError when the server refused it.
   */
  publish({ subject, data, headers }: Outgoing): Promise<void> {
    return new Promise((resolve, reject) => {
      const token = (++this.#last).toString(36);
      const reply = `${this.#inbox}.${token}`;
      this.connection.publish(subject, data, headers === undefined ? { reply } : { reply, headers });
      this.#waiting.set(token, { subject, resolve, reject, until: performance.now() + this.#timeoutMs });
      this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS);
    });
  }

  #acknowledged(message: Msg): void {
    const token = message.subject.slice(this.#inbox.length + 1);
    const waiting = this.#waiting.get(token);
    if (waiting === undefined) return;
    this.#waiting.delete(token);
    const problem = answerOf(message);
    if (problem === undefined) {
      this.#health.noteStored(waiting.subject);
      waiting.resolve();
      return;
    }
    if (!(problem instanceof NoStream)) this.#health.noteFailed(waiting.subject, problem.message);
    waiting.reject(problem);
  }

  /** Entries are in sending order: the first that has time left ends the check. */
  #look(): void {
    const now = performance.now();
    const closed = this.connection.isClosed();
    for (const [token, { subject, until, reject }] of this.#waiting) {
      if (until > now && !closed) return;
      this.#waiting.delete(token);
      const problem = new NotStored("the server did not say that it stored the message");
      this.#health.noteFailed(subject, problem.message);
      reject(problem);
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** Error in the answer, if any. An unreadable answer counts as none: an exception in a callback closes the connection. */
function answerOf(message: Msg): Error | undefined {
  try {
    return problemOf(message);
  } catch (cause) {
    return new NotStored("the message bus answered what is no acknowledgement", { cause });
  }
}

function problemOf(message: Msg): Error | undefined {
  if (message.data.length === 0) return new NoStream();
  const answer = message.json<{ stream?: string; seq?: number; error?: { code: number; err_code: number; description: string } } | null>();
  if (answer?.error) return new JetStreamApiError(answer.error);
  if (typeof answer?.stream !== "string") return new NotStored("no stream took the message");
  // A stream whose store fails acknowledges unstored messages with 0; streams count from 1.
  if (!(Number(answer.seq) > 0)) return new NotStored(`stream ${answer.stream} acknowledged the message without storing it`);
  return undefined;
}
