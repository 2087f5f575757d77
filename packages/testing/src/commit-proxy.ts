import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/**
 * Point at which a connection to PostgreSQL is cut during a commit:
 * - `before`: the server never receives the commit.
 * - `after`: the server has committed, but the client gets no answer.
 * - `meanwhile`: the connection drops while the server commits; the outcome is unknown.
 */
export type CommitCut = "before" | "after" | "meanwhile";

/** A proxy between a service and PostgreSQL that cuts connections during commits. */
export interface CommitProxy {
  /** Address for clients, in place of the server's own. */
  readonly url: string;
  /** Sets the decision for each commit from now on, also of a single statement that writes. */
  cutWhen(decide: () => CommitCut | undefined): void;
  /** Number of cut commits. */
  readonly cuts: Readonly<Record<CommitCut, number>>;
  stop(): Promise<void>;
}

/** @param target address of the server, without TLS */
export async function startCommitProxy(target: string): Promise<CommitProxy> {
  const server = new URL(target);
  const sockets = new Set<Socket>();
  const cuts: Record<CommitCut, number> = { before: 0, after: 0, meanwhile: 0 };
  let decide: () => CommitCut | undefined = () => undefined;
  const listener = createServer((client) => {
    const onward = connect(Number(server.port), server.hostname);
    for (const [socket, other] of [
      [client, onward],
      [onward, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    let deaf = false;
    onward.on("data", (bytes) => {
      // The first answer after a commit confirms it.
      if (deaf) client.destroy();
      else client.write(bytes);
    });
    const watch = new CommitWatch();
    client.on("data", (bytes) => {
      for (const { message, commits } of watch.read(bytes)) {
        const cut = deaf || !commits ? undefined : decide();
        if (cut !== undefined) cuts[cut]++;
        switch (cut) {
          case undefined:
            onward.write(message);
            break;
          case "after":
            deaf = true;
            onward.write(message);
            break;
          case "before":
            client.destroy();
            return;
          case "meanwhile":
            onward.write(message, () => client.destroy());
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
    cuts,
    cutWhen: (next) => {
      decide = next;
    },
    stop: async () => {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

interface Read {
  readonly message: Buffer;
  /** True when the server commits on this message. */
  readonly commits: boolean;
}

const WRITES = /\b(INSERT|UPDATE|DELETE)\b/i;

/** Parses what a client sends: protocol 3.0, in which every message but the first begins with its type. */
class CommitWatch {
  #rest = Buffer.alloc(0);
  #first = true;
  #inTransaction = false;
  #statement = "";
  readonly #prepared = new Map<string, string>();

  *read(bytes: Buffer): Generator<Read> {
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
