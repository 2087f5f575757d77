import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import { waitForDrain } from "../../wait-for-drain.js";
import type { Encoding } from "../compression/accepted-encoding.js";
import { openCompressedBody } from "../compression/compress.js";
import { endWithTimeout } from "./end-with-timeout.js";

export interface ResponseStreamOptions {
  readonly response: ServerResponse;
  readonly headers: OutgoingHttpHeaders;
  /** Coding of the body; undefined: none. */
  readonly encoding?: Encoding | undefined;
  /** Time for which a client may read nothing. */
  readonly stallTimeoutMs: number;
  /** Bytes that open the body. */
  readonly opening?: string;
  /** Bytes that say nothing, for a stream without messages; absent: none are sent. */
  readonly keepalive?: string | Uint8Array;
}

/**
 * Interval of keepalives, ms: proxies close silent connections, and a write detects a dead client.
 */
const KEEPALIVE_MS = 15_000;
/** Time after which the headers of a silent stream with keepalives are sent, ms. */
const OPEN_DELAY_MS = 500;

/** The body of an answer that is written piece by piece. */
export class ResponseStream {
  readonly #options: ResponseStreamOptions;
  readonly #timers: NodeJS.Timeout[] = [];
  #body: Writable | undefined;
  #isSilent = true;

  constructor(options: ResponseStreamOptions) {
    this.#options = options;
    const { keepalive } = options;
    if (keepalive === undefined) return;
    this.#timers.push(
      setTimeout(() => this.#open(), OPEN_DELAY_MS),
      setInterval(() => {
        if (this.#isSilent && this.#body?.writableNeedDrain === false) this.#body.write(keepalive);
        this.#isSilent = true;
      }, KEEPALIVE_MS),
    );
  }

  /** True once headers are sent: a later error can no longer be an HTTP status. */
  get hasBegun(): boolean {
    return this.#body !== undefined;
  }

  /** Sends the headers, unless they are sent. */
  begin(): void {
    const { response, headers, encoding, opening } = this.#options;
    if (this.#body !== undefined || response.destroyed) return;
    response.writeHead(200, { ...headers, ...(encoding !== undefined && { "Content-Encoding": encoding }) });
    this.#body = encoding === undefined ? response : openCompressedBody(encoding, response);
    if (opening !== undefined) this.#body.write(opening);
  }

  /** Writes one piece; resolves when the client has room for the next one. */
  async send(piece: string | Uint8Array, signal: AbortSignal): Promise<void> {
    const { stallTimeoutMs } = this.#options;
    const body = this.#write(piece);
    if (body?.writableNeedDrain === true) await waitForDrain(body, { signal, stallTimeoutMs });
  }

  /** Writes the last piece, if there is one, and ends the body. */
  end(piece?: string | Uint8Array): void {
    const { response, stallTimeoutMs } = this.#options;
    this.begin();
    if (piece !== undefined) this.#write(piece);
    if (response.destroyed) return;
    endWithTimeout(response, { body: this.#body ?? response, timeoutMs: stallTimeoutMs });
  }

  /** Stops the keepalives. */
  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** Sends the headers without a body: Node.js holds them back until the first write otherwise. */
  #open(): void {
    this.begin();
    if (this.hasBegun) this.#options.response.flushHeaders();
  }

  #write(piece: string | Uint8Array): Writable | undefined {
    this.begin();
    this.#isSilent = false;
    const body = this.#body;
    if (body === undefined || body.destroyed || this.#options.response.destroyed) return undefined;
    body.write(piece);
    return body;
  }
}
