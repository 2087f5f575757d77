import { JetStreamApiError } from "@nats-io/jetstream";
import { createInbox, type Msg, type MsgHdrs, type NatsConnection } from "@nats-io/transport-node";

import type { StoreHealth } from "./store-health.js";

interface Waiting {
  readonly subject: string;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly until: number;
}

/** A message as it travels. */
export interface Outgoing {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly headers?: MsgHdrs | undefined;
}

/** The server did not say within the time that it stored the message. */
export class NotStored extends Error {
  override readonly name = "NotStored";
}

/** Nobody listens on the subject: its stream was not made yet, or the server has lost it. */
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
 * Messages for streams, with the server's word that they are stored. One subscription
 * takes all acknowledgements and one timer watches over them: the client's own requests
 * make a timer and two errors with stacks for each message, a third of a publisher's time.
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
   * @throws NotStored when nobody answered in time, NoStream, JetStreamApiError when it was refused.
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

  /** In the order in which they were sent: the first that has time left ends it. */
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

/** What keeps a message from being stored. An answer that cannot be read counts as none: what a callback throws closes the connection. */
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
  // A stream whose store fails acknowledges with 0 what it has not stored; streams count from 1.
  if (!(Number(answer.seq) > 0)) return new NotStored(`stream ${answer.stream} acknowledged the message without storing it`);
  return undefined;
}
