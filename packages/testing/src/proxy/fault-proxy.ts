import { kubeconfigText } from "@flyte-ts/host";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import {
  Agent as HttpAgent,
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type RequestOptions,
  type Server,
  type ServerResponse,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export interface FaultProxyTarget {
  /** Address of the API, with the path below which it is served, if any. */
  readonly url: string;
  /** Token for each request, in place of the client's. */
  readonly token?: string | undefined;
  /** CA certificate of the server, PEM. */
  readonly ca?: string | undefined;
}

/**
 * Fault of the API, from now on:
 * - `refused`: no listener; connections are cut.
 * - `silent`: connections stay open, and nothing ever passes through them again, even after the
 *   fault ends.
 * - `answering`: each request gets this status, as from an overloaded server (429, 503).
 * - `slow`: each answer, and each chunk of a watch, is delayed by this time, ms.
 */
export type ProxyFault =
  | { readonly kind: "none" }
  | { readonly kind: "refused" }
  | { readonly kind: "silent" }
  | { readonly kind: "answering"; readonly status: number }
  | { readonly kind: "slow"; readonly delayMs: number };

/** A proxy of a Kubernetes API that simulates failures of networks and servers. */
export interface FaultProxy {
  /** Kubeconfig for clients, which use plain HTTP to the proxy. */
  readonly kubeconfig: string;
  readonly url: string;
  /** Number of requests received. */
  readonly requests: number;
  set(fault: ProxyFault): Promise<void>;
  /** Cuts all connections once. */
  resetConnections(): void;
  /**
   * Ends all watches, and answers each of the next `count` with 410 Gone: alternately as status and
   * as an event of the stream.
   */
  expireWatches(count: number): void;
  stop(): Promise<void>;
}

export async function startFaultProxy(target: FaultProxyTarget): Promise<FaultProxy> {
  const proxy = new Proxy(target);
  await proxy.listen(0);
  const dir = mkdtempSync(join(tmpdir(), "flyte-ts-test-api-proxy-"));
  const kubeconfig = join(dir, "kubeconfig");
  const url = `http://127.0.0.1:${proxy.port}`;
  writeFileSync(kubeconfig, kubeconfigText({ name: "proxy", server: url }));
  return {
    kubeconfig,
    url,
    get requests() {
      return proxy.requests;
    },
    set: (fault) => proxy.set(fault),
    resetConnections: () => proxy.resetConnections(),
    expireWatches: (count) => proxy.expireWatches(count),
    stop: async () => {
      await proxy.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

class Proxy {
  requests = 0;
  port = 0;
  readonly #url: URL;
  readonly #agent: HttpAgent | HttpsAgent;
  readonly #sockets = new Set<Socket>();
  readonly #watches = new Set<ServerResponse>();
  /** Connections of a silent period. */
  readonly #blackholed = new WeakSet<Socket>();
  #fault: ProxyFault = { kind: "none" };
  #watchesToExpire = 0;
  #server: Server | undefined;

  constructor(private readonly target: FaultProxyTarget) {
    this.#url = new URL(target.url);
    this.#agent = this.#url.protocol === "https:" ? new HttpsAgent({ keepAlive: true, ca: target.ca }) : new HttpAgent({ keepAlive: true });
  }

  async listen(port: number): Promise<void> {
    const server = createServer((request, response) => this.#handle(request, response));
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("error", () => socket.destroy());
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", resolve);
    });
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  async set(fault: ProxyFault): Promise<void> {
    const before = this.#fault;
    this.#fault = fault;
    if (fault.kind === "silent") for (const socket of this.#sockets) this.#blackholed.add(socket);
    if (fault.kind === "refused") await this.close();
    else if (before.kind === "refused") await this.listen(this.port);
  }

  resetConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  expireWatches(count: number): void {
    this.#watchesToExpire = count;
    for (const response of this.#watches) response.destroy();
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    const closed = new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
    this.resetConnections();
    await closed;
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    this.requests++;
    const fault = this.#fault;
    if (fault.kind === "silent") this.#blackholed.add(request.socket);
    if (this.#blackholed.has(request.socket)) return void request.resume();
    if (fault.kind === "answering") return sendErrorStatus(response, fault.status);
    const isWatch = /[?&]watch=(1|true)/.test(request.url ?? "");
    if (isWatch && this.#watchesToExpire > 0) return sendExpired(response, this.#watchesToExpire-- % 2 === 0);
    if (isWatch) {
      this.#watches.add(response);
      response.on("close", () => this.#watches.delete(response));
    }
    this.#forward(request, response);
  }

  #forward(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const { host: _, ...headers } = request.headers;
    const options: RequestOptions = {
      method: request.method,
      path: this.#url.pathname.replace(/\/+$/, "") + (request.url ?? ""),
      host: this.#url.hostname,
      port: this.#url.port,
      agent: this.#agent,
      headers: { ...headers, ...(this.target.token === undefined ? {} : { authorization: `Bearer ${this.target.token}` }) },
    };
    const upstream = (this.#url.protocol === "https:" ? httpsRequest : httpRequest)(
      options,
      (reply) => void this.#sendResponse(reply, response),
    );
    upstream.on("error", () => socket.destroy());
    response.on("close", () => upstream.destroy());
    request.pipe(upstream);
  }

  async #sendResponse(answer: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = response.req;
    const late = async () => {
      if (this.#fault.kind === "slow") await sleep(this.#fault.delayMs);
    };
    try {
      await late();
      if (this.#blackholed.has(socket)) return;
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      // Chunks of a watch may arrive while earlier ones are delayed: each is delayed by the same
      // time.
      let sent = Promise.resolve();
      for await (const piece of answer) {
        const due = late();
        sent = sent.then(() => due).then(() => void (this.#blackholed.has(socket) || response.write(piece as Buffer)));
      }
      await sent;
      if (!this.#blackholed.has(socket)) response.end();
    } catch {
      if (!this.#blackholed.has(socket)) response.destroy();
    }
  }
}

function statusObject(code: number, reason: string): object {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message: "said by the proxy", reason, code };
}

function sendErrorStatus(response: ServerResponse, status: number): void {
  response.writeHead(status, { "content-type": "application/json", "retry-after": "1" });
  response.end(JSON.stringify(statusObject(status, status === 429 ? "TooManyRequests" : "ServiceUnavailable")));
}

function sendExpired(response: ServerResponse, asStatus: boolean): void {
  const status = statusObject(410, "Expired");
  response.writeHead(asStatus ? 410 : 200, { "content-type": "application/json" });
  response.end(JSON.stringify(asStatus ? status : { type: "ERROR", object: status }) + "\n");
}
