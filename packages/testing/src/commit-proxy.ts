import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/**
 * Where a connection to PostgreSQL is cut while a transaction commits:
 * - `before`: the server never hears of the commit.
 * - `after`: it has committed, and nobody hears of it.
 * - `meanwhile`: the commit is on its way and the connection is gone; either may have happened.
 */
export type CommitCut = "before" | "after" | "meanwhile";

/** Stands between a service and PostgreSQL, and cuts connections at the worst moment. */
export interface CommitProxy {
  /** For clients, in place of the server's own. */
  readonly url: string;
  /** Asked at each commit, also that of a single statement that writes, from now on. */
  cutWhen(decide: () => CommitCut | undefined): void;
  /** How many commits were cut. */
  readonly cuts: Readonly<Record<CommitCut, number>>;
  stop(): Promise<void>;
}

/** @param target address of the server, which must be spoken to without TLS */
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
      // The first word after a commit says that it is done.
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
  /** Whether the server commits when it has this message. */
  readonly commits: boolean;
}

const WRITES = /\b(INSERT|UPDATE|DELETE)\b/i;

/** Reads what a client sends: protocol 3.0, of which every message but the first begins with its type. */
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
