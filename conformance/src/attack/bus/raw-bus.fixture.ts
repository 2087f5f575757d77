import { randomUUID } from "node:crypto";
import { connect, type Socket } from "node:net";

/** A response of the JetStream API, or a message that a subscription received. */
export interface RawMessage {
  readonly subject: string;
  readonly data: Buffer;
  /** Raw status line and fields; empty without headers. */
  readonly headers: string;
}

export interface RawSubscription {
  readonly received: readonly RawMessage[];
  /** Error by which the server refused the subscription; undefined while it is active. */
  readonly refused: () => string | undefined;
}

export interface RawPublish {
  readonly subject: string;
  readonly data?: Uint8Array | string | undefined;
  readonly reply?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Connection to a NATS server that sends what no conforming client sends. */
export interface RawBus {
  publish(message: RawPublish): void;
  subscribe(subject: string): RawSubscription;
  /**
   * Waits until the server has handled what was sent. Resolves to the errors since the last call.
   */
  flush(): Promise<readonly string[]>;
  /**
   * Sends a request to the JetStream API with the user's own inbox for the response.
   *
   * @returns the response as JSON, `{ refused }` when the server refuses the subject, `{ silent:
   * true }` without a response
   */
  request(subject: string, body?: object | string): Promise<Readonly<Record<string, unknown>>>;
  close(): void;
}

export interface RawCredentials {
  readonly port: number;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
}

const RESPONSE_TIMEOUT_MS = 3_000;

/** Connects as a user. @throws the server's error when it refuses the credentials */
export async function openRawBus({ port, user, password }: RawCredentials): Promise<RawBus> {
  const socket = connect(port, "127.0.0.1");
  socket.setNoDelay();
  const connection = new Connection(socket);
  const inbox = `_INBOX.${user ?? "none"}`;
  const identity = user === undefined ? {} : { user, pass: password };
  socket.write(`CONNECT ${JSON.stringify({ verbose: false, pedantic: false, headers: true, no_responders: true, ...identity })}\r\n`);
  const [refusal] = await connection.flush();
  if (refusal !== undefined) {
    socket.destroy();
    throw new Error(refusal);
  }
  return {
    publish: (message) => connection.publish(message),
    subscribe: (subject) => connection.subscribe(subject),
    flush: () => connection.flush(),
    request: async (subject, body = "") => {
      const reply = `${inbox}.${randomUUID()}`;
      const answers = connection.subscribe(reply).received;
      connection.publish({ subject, reply, data: typeof body === "string" ? body : JSON.stringify(body) });
      const refused = (await connection.flush()).find((error) => error.includes(`"${subject}"`));
      if (refused !== undefined) return { refused };
      for (const end = Date.now() + RESPONSE_TIMEOUT_MS; answers.length === 0 && Date.now() < end; ) await connection.flush();
      const [answer] = answers;
      if (answer === undefined || answer.headers.includes("503")) return { silent: true };
      return answer.headers === "" ? (JSON.parse(answer.data.toString()) as Record<string, unknown>) : { stored: answer };
    },
    close: () => socket.destroy(),
  };
}

/**
 * Implements the parts of the NATS client protocol
 * (docs.nats.io/reference/reference-protocols/nats-protocol) that the attacks need.
 */
class Connection {
  #rest = Buffer.alloc(0);
  #subscriptions = 0;
  #errors: string[] = [];
  readonly #pongs: (() => void)[] = [];
  readonly #received = new Map<string, RawMessage[]>();

  constructor(private readonly socket: Socket) {
    socket.on("data", (chunk) => this.#read(chunk));
    socket.on("error", (error) => this.#errors.push(error.message));
    socket.once("close", () => {
      for (const pong of this.#pongs.splice(0)) pong();
    });
  }

  publish({ subject, data = "", reply, headers }: RawPublish): void {
    const to = reply === undefined ? subject : `${subject} ${reply}`;
    const body = Buffer.from(data);
    if (headers === undefined) return this.#send([`PUB ${to} ${body.length}\r\n`, body]);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = Buffer.from(`NATS/1.0\r\n${lines.join("")}\r\n`);
    this.#send([`HPUB ${to} ${head.length} ${head.length + body.length}\r\n`, head, body]);
  }

  subscribe(subject: string): RawSubscription {
    const id = String(++this.#subscriptions);
    const received: RawMessage[] = [];
    this.#received.set(id, received);
    this.socket.write(`SUB ${subject} ${id}\r\n`);
    return { received, refused: () => this.#errors.find((error) => error.includes(`Subscription to "${subject}"`)) };
  }

  async flush(): Promise<readonly string[]> {
    if (!this.socket.destroyed) {
      await new Promise<void>((resolve) => {
        this.#pongs.push(resolve);
        this.socket.write("PING\r\n");
      });
    }
    return this.#errors.splice(0);
  }

  #send(parts: readonly (string | Buffer)[]): void {
    this.socket.write(Buffer.concat([...parts.map((part) => Buffer.from(part)), Buffer.from("\r\n")]));
  }

  #read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    for (let end = this.#rest.indexOf("\r\n"); end >= 0; end = this.#rest.indexOf("\r\n")) {
      const [word = "", ...fields] = this.#rest.subarray(0, end).toString().split(" ");
      const used = word === "MSG" || word === "HMSG" ? this.#message(end + 2, word, fields) : end + 2;
      if (used === undefined) return;
      if (word === "-ERR") this.#errors.push(fields.join(" "));
      if (word === "PONG") this.#pongs.shift()?.();
      if (word === "PING") this.socket.write("PONG\r\n");
      this.#rest = this.#rest.subarray(used);
    }
  }

  /**
   * Parses a message whose line ended before `begin`. Returns its end, or undefined while it is
   * incomplete.
   */
  #message(begin: number, word: string, fields: readonly string[]): number | undefined {
    const total = Number(fields.at(-1));
    if (this.#rest.length < begin + total + 2) return undefined;
    const headBytes = word === "HMSG" ? Number(fields.at(-2)) : 0;
    const [subject = "", id = ""] = fields;
    this.#received.get(id)?.push({
      subject,
      headers: this.#rest.subarray(begin, begin + headBytes).toString(),
      data: Buffer.from(this.#rest.subarray(begin + headBytes, begin + total)),
    });
    return begin + total + 2;
  }
}
