import { JetStreamApiError } from "@nats-io/jetstream";
import { createInbox, type Msg, type MsgHdrs, type NatsConnection } from "@nats-io/transport-node";

interface Waiting {
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

/**
 * Messages for streams, with the server's word that they are stored. One subscription
 * takes all acknowledgements and one timer watches over them: the client's own requests
 * make a timer and two errors with stacks for each message, a third of a publisher's time.
 */
export class StoredPublish {
  readonly #waiting = new Map<string, Waiting>();
  readonly #inbox = createInbox();
  #last = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly connection: NatsConnection,
    private readonly timeoutMs: number,
  ) {
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
      this.#waiting.set(token, { resolve, reject, until: performance.now() + this.timeoutMs });
      this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS);
    });
  }

  #acknowledged(message: Msg): void {
    const token = message.subject.slice(this.#inbox.length + 1);
    const waiting = this.#waiting.get(token);
    if (waiting === undefined) return;
    this.#waiting.delete(token);
    const problem = problemOf(message);
    if (problem === undefined) waiting.resolve();
    else waiting.reject(problem);
  }

  /** In the order in which they were sent: the first that has time left ends it. */
  #look(): void {
    const now = performance.now();
    const closed = this.connection.isClosed();
    for (const [token, { until, reject }] of this.#waiting) {
      if (until > now && !closed) return;
      this.#waiting.delete(token);
      reject(new NotStored("the message bus did not say that it stored the message"));
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

function problemOf(message: Msg): Error | undefined {
  if (message.data.length === 0) return new NoStream();
  const answer = message.json<{ stream?: string; error?: { code: number; err_code: number; description: string } }>();
  if (answer.error !== undefined) return new JetStreamApiError(answer.error);
  return answer.stream === undefined ? new NotStored("no stream took the message") : undefined;
}
