import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createHttpPolicy } from "@flyte-ts/http-policy";
import type { Registry } from "prom-client";
import type { Readiness } from "./readiness.js";

export interface OpsServerOptions {
  /** 0 takes any free port. */
  readonly port: number;
  readonly host?: string;
  /** Names by which it is asked; see {@link import("@flyte-ts/http-policy").HttpPolicyOptions}. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** How long a client may take to send a request, ms; 15 s when not given. */
  readonly requestMs?: number;
  readonly readiness: Pick<Readiness, "state">;
  readonly metrics: Registry;
  /** Further paths: what they give is answered as JSON. */
  readonly details?: Readonly<Record<string, () => unknown>>;
}

export interface OpsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Longer than load balancers and HTTP clients keep what is idle: who ends a connection first takes no request down with it. */
const KEEP_ALIVE_MS = 75_000;
/** Requests have no body: one that takes longer comes from a client that holds connections open. */
const REQUEST_MS = 15_000;
const CONNECTION_CHECK_MS = 5_000;

/** Serves `/healthz` (the process lives), `/readyz` (it can work; `?verbose`: what of it stands on what) and `/metrics` (Prometheus). */
export async function startOpsServer(options: OpsServerOptions): Promise<OpsServer> {
  const { port, host = "127.0.0.1", allowedHosts, requestMs = REQUEST_MS, readiness, metrics, details = {} } = options;
  const policy = createHttpPolicy({ listensOn: host, allowedHosts });
  const answer = async (target: string): Promise<{ status: number; type: string; body: string }> => {
    const type = "text/plain; charset=utf-8";
    // Not as a URL: a target such as `//` is none, and anyone may send it.
    const [path = "", query = ""] = target.split("?", 2);
    switch (path) {
      case "/healthz":
      case "/livez":
        return { status: 200, type, body: "ok\n" };
      case "/readyz": {
        const state = await readiness.state();
        const status = state.ready ? 200 : 503;
        if (new URLSearchParams(query).has("verbose"))
          return { status, type: "application/json", body: `${JSON.stringify(state, undefined, 2)}\n` };
        return { status, type, body: `${state.reason ?? "ok"}\n` };
      }
      case "/metrics":
        return { status: 200, type: metrics.contentType, body: await metrics.metrics() };
      default: {
        const detail = Object.hasOwn(details, path) ? details[path] : undefined;
        if (detail !== undefined) return { status: 200, type: "application/json", body: `${JSON.stringify(detail(), undefined, 2)}\n` };
        return { status: 404, type, body: `paths: ${["/healthz", "/readyz", "/metrics", ...Object.keys(details)].join(" ")}\n` };
      }
    }
  };
  const timeouts = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: requestMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(requestMs, CONNECTION_CHECK_MS),
  };
  const server = createServer(timeouts, (request, response) => {
    response.setHeader("x-content-type-options", "nosniff");
    const refusal = policy.refusal(request);
    if (refusal !== undefined) {
      response.writeHead(refusal.status, { "content-type": "text/plain; charset=utf-8", connection: "close" }).end(`${refusal.reason}\n`);
      return;
    }
    answer(request.url ?? "/").then(
      ({ status, type, body }) => response.writeHead(status, { "content-type": type }).end(body),
      (error: unknown) => response.writeHead(500).end(`${String(error)}\n`),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
