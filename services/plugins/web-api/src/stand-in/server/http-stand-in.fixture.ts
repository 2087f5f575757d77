import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** An operation of an API and its input. */
export interface Call {
  readonly operation: string;
  readonly url: URL;
  /** The body as JSON; undefined without a body. */
  readonly input: unknown;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
}

/**
 * Fault of a call: an answer instead of an effect, "lost" for an effect without an answer,
 * undefined for none.
 */
export type Fault = Answer | "lost" | undefined;

/** An API over HTTP with JSON bodies, whose calls are counted and may fail. */
export abstract class HttpStandIn {
  /** Number of calls by operation. */
  readonly calls = new Map<string, number>();
  /** Decides on the fault of a call by its operation, its number, and its path and input. */
  fault: (operation: string, calls: number, call: Call) => Fault = () => undefined;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  /** Returns the operation that a request calls. */
  protected abstract operationOf(request: IncomingMessage): string;

  /** Executes a call. */
  protected abstract answer(call: Call): Answer;

  /** Returns the address of the API. */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const operation = this.operationOf(request);
    const call: Call = { operation, url: new URL(request.url ?? "/", "http://host"), input: text === "" ? undefined : JSON.parse(text) };
    const calls = (this.calls.get(operation) ?? 0) + 1;
    this.calls.set(operation, calls);
    const fault = this.fault(operation, calls, call);
    const { status = 200, headers, body } = typeof fault === "object" ? fault : this.answer(call);
    if (fault === "lost") response.destroy();
    else response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  }
}
