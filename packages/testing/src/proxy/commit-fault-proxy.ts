import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { pairSockets } from "./pair-sockets.js";

/**
 * Point at which a connection to PostgreSQL is cut during a commit:
 * - `before`: the server never receives the commit.
 * - `after`: the server has committed, but the client gets no answer.
 * - `meanwhile`: the connection drops while the server commits; the outcome is unknown.
 */
export type CommitFault = "before" | "after" | "meanwhile";

/** A proxy between a service and PostgreSQL that cuts connections during commits. */
export interface CommitFaultProxy {
  /** Address for clients, in place of the server's own. */
  readonly url: string;
  /**
   * Sets the function that chooses the fault of each commit from now on, including the implicit
   * commit of a single statement that writes.
   */
  setFaultPolicy(decide: () => CommitFault | undefined): void;
  /** Number of cut commits. */
  readonly faults: Readonly<Record<CommitFault, number>>;
  stop(): Promise<void>;
}

/** @param target address of the server, without TLS */
export async function startCommitFaultProxy(target: string): Promise<CommitFaultProxy> {
  const server = new URL(target);
  const sockets = new Set<Socket>();
  const faults: Record<CommitFault, number> = { before: 0, after: 0, meanwhile: 0 };
  let decide: () => CommitFault | undefined = () => undefined;
  const listener = createServer((client) => {
    const upstream = connect(Number(server.port), server.hostname);
    pairSockets(client, upstream, sockets);
    let dropReply = false;
    upstream.on("data", (bytes) => {
      // The first answer after a commit confirms it.
      if (dropReply) client.destroy();
      else client.write(bytes);
    });
    const parser = new CommitParser();
    client.on("data", (bytes) => {
      for (const { message, commits } of parser.read(bytes)) {
        const fault = dropReply || !commits ? undefined : decide();
        if (fault !== undefined) faults[fault]++;
        switch (fault) {
          case undefined:
            upstream.write(message);
            break;
          case "after":
            dropReply = true;
            upstream.write(message);
            break;
          case "before":
            client.destroy();
            return;
          case "meanwhile":
            upstream.write(message, () => client.destroy());
            return;
        }
      }
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const url = new URL(target);
  url.port = String((listener.address() as AddressInfo).port);
  return {
    url: url.href,
    faults,
    setFaultPolicy: (next) => {
      decide = next;
    },
    stop: async () => {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

interface ClientMessage {
  readonly message: Buffer;
  /** True when the server commits on this message. */
  readonly commits: boolean;
}

const WRITES = /\b(INSERT|UPDATE|DELETE)\b/i;

/**
 * Parses what a client sends: protocol 3.0, in which every message but the first begins with its
 * type.
 */
class CommitParser {
  #rest = Buffer.alloc(0);
  #first = true;
  #inTransaction = false;
  #statement = "";
  readonly #prepared = new Map<string, string>();

  *read(bytes: Buffer): Generator<ClientMessage> {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    for (;;) {
      const head = this.#first ? 0 : 1;
      if (this.#rest.length < head + 4) return;
      const length = head + this.#rest.readUInt32BE(head);
      if (this.#rest.length < length) return;
      const message = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      const commits = !this.#first && this.#commits(String.fromCharCode(message[0] ?? 0), message.subarray(5));
      this.#first = false;
      yield { message, commits };
    }
  }

  #commits(type: string, body: Buffer): boolean {
    const texts = () => body.toString("latin1").split("\0");
    switch (type) {
      case "Q": {
        const [text = ""] = texts();
        const commits = text === "COMMIT" || (!this.#inTransaction && WRITES.test(text));
        if (text.startsWith("BEGIN")) this.#inTransaction = true;
        if (/^(COMMIT|ROLLBACK)/.test(text)) this.#inTransaction = false;
        return commits;
      }
      case "P": {
        const [name = "", text = ""] = texts();
        this.#prepared.set(name, text);
        return false;
      }
      case "B": {
        const [, name = ""] = texts();
        this.#statement = this.#prepared.get(name) ?? "";
        return false;
      }
      case "S": {
        const commits = !this.#inTransaction && WRITES.test(this.#statement);
        this.#statement = "";
        return commits;
      }
      default:
        return false;
    }
  }
}
