import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createHttpPolicy } from "@flyte-ts/http-policy";
import type { Metrics } from "@flyte-ts/telemetry";
import type { Readiness } from "./readiness.js";

export interface OpsServerOptions {
  /** 0 takes any free port. */
  readonly port: number;
  readonly host?: string;
  /**
   * Host names that requests may use; see
   * {@link import("@flyte-ts/http-policy").HttpPolicyOptions}.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Timeout for receiving a request, ms. Default 15 s. */
  readonly requestTimeoutMs?: number;
  readonly readiness: Pick<Readiness, "state">;
  readonly metrics: Metrics;
  /** Further paths, each with a function whose result is sent as JSON. */
  readonly jsonEndpoints?: Readonly<Record<string, () => unknown>>;
}

export interface OpsServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Exceeds the idle timeout of load balancers and HTTP clients, so that the client closes idle
 * connections first and loses no request.
 */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/** Requests have no body: a slower one comes from a client that holds connections open. */
const REQUEST_TIMEOUT_MS = 15_000;
const CONNECTION_CHECK_INTERVAL_MS = 5_000;

/**
 * Serves `/healthz` (liveness), `/readyz` (readiness; `?verbose` lists the dependencies) and
 * `/metrics` (Prometheus).
 */
export async function startOpsServer(options: OpsServerOptions): Promise<OpsServer> {
  const { port, host = "127.0.0.1", allowedHosts, requestTimeoutMs = REQUEST_TIMEOUT_MS, readiness, metrics, jsonEndpoints = {} } = options;
  const policy = createHttpPolicy({ listenAddress: host, allowedHosts });
  const respond = async (target: string): Promise<{ status: number; type: string; body: string }> => {
    const type = "text/plain; charset=utf-8";
    // Not parsed as a URL: a target such as `//` is invalid, and any client may send it.
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
        const endpoint = Object.hasOwn(jsonEndpoints, path) ? jsonEndpoints[path] : undefined;
        if (endpoint !== undefined) return { status: 200, type: "application/json", body: `${JSON.stringify(endpoint(), undefined, 2)}\n` };
        return { status: 404, type, body: `paths: ${["/healthz", "/readyz", "/metrics", ...Object.keys(jsonEndpoints)].join(" ")}\n` };
      }
    }
  };
  const timeouts = {
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    headersTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(requestTimeoutMs, CONNECTION_CHECK_INTERVAL_MS),
  };
  const server = createServer(timeouts, (request, response) => {
    response.setHeader("x-content-type-options", "nosniff");
    const refusal = policy.checkRequest(request);
    if (refusal !== undefined) {
      response.writeHead(refusal.status, { "content-type": "text/plain; charset=utf-8", connection: "close" }).end(`${refusal.reason}\n`);
      return;
    }
    respond(request.url ?? "/").then(
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
