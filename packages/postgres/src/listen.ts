import pg from "pg";
import type { Logger } from "@flyte-ts/telemetry";

interface ListenerOptions {
  readonly url: string;
  readonly channel: string;
  readonly onNotify: (payload: string) => void;
  readonly logger: Logger;
}

/** A connection that listens on a channel and reconnects after a loss. */
export class Listener {
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(private readonly options: ListenerOptions) {}

  async start(): Promise<void> {
    const { url, channel, onNotify, logger } = this.options;
    const client = new pg.Client({ connectionString: url, keepAlive: true, application_name: `flyte-ts listen ${channel}` });
    this.#client = client;
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
    await this.#client?.end().catch(() => undefined);
  }

  #retry(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.start(), 500);
  }
}
