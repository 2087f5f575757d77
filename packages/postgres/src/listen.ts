import { Socket } from "node:net";
import pg from "pg";
import { resolvesWithin, systemTime } from "@flyte-ts/async";
import type { Logger } from "@flyte-ts/telemetry";
import { CONNECT_MS, CONNECTION } from "./connection.js";

interface ListenerOptions {
  readonly url: string;
  readonly channel: string;
  readonly onNotify: (payload: string) => void;
  readonly logger: Logger;
}

/** Time for an orderly end of the connection, ms: a silent server does not answer it. */
const END_MS = 1_000;

/** A connection that listens on a channel and reconnects after a loss. */
export class Listener {
  #client: pg.Client | undefined;
  #socket: Socket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(private readonly options: ListenerOptions) {}

  async start(): Promise<void> {
    const { url, channel, onNotify, logger } = this.options;
    const socket = new Socket();
    const client = new pg.Client({
      connectionString: url,
      ...CONNECTION,
      query_timeout: CONNECT_MS,
      stream: () => socket,
      application_name: `flyte-ts listen ${channel}`,
    });
    this.#client = client;
    this.#socket = socket;
    let lost = false;
    const onLost = (error?: Error) => {
      if (lost || this.#closed) return;
      lost = true;
      logger.warn({ channel, error: error?.message }, "listening connection lost");
      client.end().catch(() => undefined);
      this.#retry();
    };
    client.on("error", onLost);
    client.on("end", () => onLost());
    client.on("notification", (message) => onNotify(message.payload ?? ""));
    try {
      await client.connect();
      await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      onLost(error as Error);
      return;
    }
    onNotify("");
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    const ended = this.#client?.end().catch(() => undefined);
    if (ended !== undefined && !(await resolvesWithin(ended, END_MS, systemTime))) this.#socket?.destroy();
  }

  #retry(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.start(), 500);
  }
}
