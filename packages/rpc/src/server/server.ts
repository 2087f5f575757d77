import { createServer as createHttpServer } from "node:http";
import { createServer as createNetServer, type AddressInfo, type Server as NetServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { DescService } from "@bufbuild/protobuf";
import { createHttpPolicy, type HttpPolicy } from "@flyte-ts/http-policy";
import type { MemoryBudget } from "@flyte-ts/input-limits";
import type { Logger } from "@flyte-ts/telemetry";
import { Server as GrpcServer, ServerCredentials } from "@grpc/grpc-js";
import { DEFAULT_STALL_TIMEOUT_MS } from "../wait-for-drain.js";
import type { CallGuard } from "../call-guard.js";
import { Code } from "../code.js";
import { type BaseCall, createGrpcIntake, type GrpcMethod } from "../grpc/grpc-intake.js";
import { addService, contextBeforeHandler, statusOf } from "../grpc/grpc-service.js";
import { createHealth } from "../grpc/health.js";
import type { HttpRequestHead, HttpRoute } from "../http-route.js";
import { createGateway } from "../rest/gateway.js";
import { createReflection } from "../grpc/reflection.js";
import { sharedBudget } from "../intake/intake.js";
import { DEFAULT_MAX_MESSAGE_BYTES, type RequestLimits, uniformLimits } from "../intake/request-limits.js";
import { RpcError } from "../rpc-error.js";
import type { Interceptor, ServedService } from "../service.js";
import { ConnectionLimits } from "./connection-limits.js";
import { sniff } from "./sniff-protocol.js";
import { createTlsListener, type TlsFiles } from "./tls-listener.js";
import { UnansweredCalls } from "./unanswered-calls.js";

export interface RpcServerOptions {
  readonly logger: Logger;
  readonly services: readonly ServedService[];
  /** Plain HTTP handlers beside the REST routes of the services. */
  readonly httpRoutes?: readonly HttpRoute[];
  /**
   * Called before a plain HTTP handler that is not `public`; rejects with an RpcError. Interceptors
   * do not see those requests.
   */
  readonly authorizeHttp?: (head: HttpRequestHead) => Promise<void>;
  /**
   * Authenticates and authorizes callers, before their requests are read and again when they are
   * decoded; absent: no access control.
   */
  readonly guard?: CallGuard | undefined;
  /** Wrap every call, the first one outermost. */
  readonly interceptors?: readonly Interceptor[];
  /**
   * Names that the health service reports as serving, besides the empty one; default `flyteadmin`.
   */
  readonly healthNames?: readonly string[];
  /**
   * Limits of the request of each method; default 4 MiB and a million elements. A larger one
   * answers RESOURCE_EXHAUSTED.
   */
  readonly limits?: RequestLimits;
  /** Memory for requests in flight; default: shared by all servers of the process. */
  readonly budget?: MemoryBudget;
  /**
   * Timeout for receiving a request, or the next one of a stream, ms; default 30 s. REST bodies
   * have five minutes.
   */
  readonly requestMs?: number;
  /** Timeout of the TLS handshake, and of the head of an HTTP/1.1 request, ms; default 15 s. */
  readonly headersMs?: number;
  /**
   * Maximum of calls with incomplete requests, default 2,048; beyond it the oldest one of the
   * connection with the most is refused.
   */
  readonly maxUnanswered?: number;
  /**
   * Maximum of unary gRPC calls of a connection that are processed at the same time, default 32;
   * further ones wait.
   */
  readonly maxConcurrentCalls?: number;
  /** Maximum of connections; default 10,000. */
  readonly maxConnections?: number;
  /** Accepts requests by host and origin; default: the rules of a loopback listener. */
  readonly httpPolicy?: HttpPolicy;
  /** Request headers that pages of allowed origins may send besides Content-Type. */
  readonly corsHeaders?: readonly string[];
  /** Certificate of the port; absent: plaintext. */
  readonly tls?: TlsFiles | undefined;
  /** Time for which a client may leave a stream unread before it is dropped; default 30 s. */
  readonly streamStallTimeoutMs?: number;
}

export interface RpcServer {
  /** All services served, also health and reflection. */
  readonly services: readonly DescService[];
  /** Starts to listen; port 0 takes any free one. Rejects when the port is in use. */
  listen(at: { readonly host: string; readonly port: number }): Promise<AddressInfo>;
  /** Address of the listener; throws before `listen`. */
  readonly address: AddressInfo;
  /**
   * Reports not ready, serves for another `delayMs` (default 0), then accepts no more, lets running
   * calls end, and aborts the rest after `deadlineMs` (default 10 s).
   */
  drain(options?: { readonly delayMs?: number; readonly deadlineMs?: number }): Promise<void>;
}

const MAX_METADATA_BYTES = 32 * 1024;
/**
 * Exceeds the idle timeout of load balancers and HTTP clients, so that the client closes idle
 * connections first and loses no request.
 */
const HTTP_KEEP_ALIVE_MS = 75_000;
/** Detects clients that vanished silently, whose streams would otherwise never end. */
const KEEPALIVE_MS = 60_000;
const KEEPALIVE_TIMEOUT_MS = 20_000;
/** Maximum of concurrent calls per HTTP/2 connection; clients queue further ones. */
const MAX_STREAMS = 1_000;
/** Idle time after which an HTTP/2 connection is asked to close; clients reconnect when needed. */
const IDLE_CONNECTION_MS = 600_000;
const REQUEST_MS = 30_000;
const MAX_UNANSWERED = 2_048;
/** More than the connections to a database: one client can use them all. */
const MAX_CONCURRENT_CALLS = 32;
const MAX_CONNECTIONS = 10_000;
/**
 * Time for the head of an HTTP/1.1 request, from its first byte or the end of the previous request.
 */
const HEADERS_MS = 15_000;
const BODY_MS = 300_000;
const CONNECTION_CHECK_MS = 5_000;

/** One port for gRPC (HTTP/2) and for REST (HTTP/1.1), in plaintext or over TLS. */
export function createRpcServer(options: RpcServerOptions): RpcServer {
  const {
    logger,
    services,
    interceptors = [],
    guard,
    limits = uniformLimits(DEFAULT_MAX_MESSAGE_BYTES),
    budget = sharedBudget(),
    requestMs = REQUEST_MS,
    headersMs = HEADERS_MS,
    maxUnanswered = MAX_UNANSWERED,
    maxConcurrentCalls = MAX_CONCURRENT_CALLS,
    maxConnections = MAX_CONNECTIONS,
    streamStallTimeoutMs: stallTimeoutMs = DEFAULT_STALL_TIMEOUT_MS,
    httpPolicy = createHttpPolicy({ listenAddress: "127.0.0.1" }),
  } = options;
  const connectionLimits = new ConnectionLimits(maxConcurrentCalls);
  const unanswered = new UnansweredCalls<BaseCall>(maxUnanswered);
  const methods = new Map<string, GrpcMethod>();
  const intake = createGrpcIntake(methods, { limits, budget, guard, httpPolicy, unanswered, contextOf: contextBeforeHandler, statusOf });
  const overdue = new RpcError(Code.DEADLINE_EXCEEDED, `the request was not complete within ${requestMs} ms`);
  const sweep = setInterval(
    () => {
      for (const call of unanswered.removeBefore(performance.now() - requestMs)) intake.refuse(call, overdue);
    },
    Math.min(requestMs / 2, CONNECTION_CHECK_MS),
  );
  sweep.unref();
  const grpc = new GrpcServer({
    // Each call has the limit of its method instead, once its caller is known.
    "grpc.max_receive_message_length": 0,
    "grpc.max_concurrent_streams": MAX_STREAMS,
    "grpc.max_connection_idle_ms": IDLE_CONNECTION_MS,
    interceptors: [intake.interceptor],
    "grpc.max_send_message_length": -1,
    "grpc.max_metadata_size": MAX_METADATA_BYTES,
    "grpc.enable_channelz": 0,
    "grpc.keepalive_time_ms": KEEPALIVE_MS,
    "grpc.keepalive_timeout_ms": KEEPALIVE_TIMEOUT_MS,
  });
  const health = createHealth(options.healthNames ?? ["flyteadmin"]);
  const offered = services.filter((served) => served.implementation).map((served) => served.service);
  const reflection = createReflection([...offered, health.served.service]);
  const served = [...services, health.served, ...reflection];
  for (const each of served) addService(grpc, each, { logger, interceptors, guard, stallTimeoutMs, intake, methods, connectionLimits });
  const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure());
  let draining = false;
  const gateway = createGateway({
    services,
    httpRoutes: options.httpRoutes ?? [],
    httpPolicy,
    corsHeaders: ["Content-Type", ...(options.corsHeaders ?? [])],
    limits,
    budget,
    logger,
    interceptors,
    guard,
    authorizeHttp: options.authorizeHttp,
    stallTimeoutMs,
  });
  const http = createHttpServer(
    {
      maxHeaderSize: MAX_METADATA_BYTES,
      keepAliveTimeout: HTTP_KEEP_ALIVE_MS,
      headersTimeout: headersMs,
      requestTimeout: BODY_MS,
      connectionsCheckingInterval: Math.min(headersMs, CONNECTION_CHECK_MS),
    },
    (request, response) => {
      // A kept-alive connection would block the drain until its client closes it.
      response.once("finish", () => draining && request.socket.end());
      gateway(request, response);
    },
  );
  // The HTTP server never listens itself; this event starts its checks of slow and idle
  // connections.
  http.emit("listening");

  const sockets = new Set<Socket>();
  /** Connections that have sent too little to know their protocol. */
  const silent = new Set<Socket>();
  const accept = (socket: Socket): void => {
    sockets.add(socket);
    silent.add(socket);
    socket.once("close", () => {
      sockets.delete(socket);
      silent.delete(socket);
    });
    socket.on("error", (error) => logger.debug({ err: error, peer: socket.remoteAddress }, "connection failed"));
    sniff(socket, (protocol) => {
      silent.delete(socket);
      switch (protocol) {
        case "http2":
          injector.injectConnection(socket);
          return;
        case "http1":
          http.emit("connection", socket);
          return;
      }
    });
  };
  const { tls } = options;
  let listener: NetServer | undefined;
  const open = async (): Promise<NetServer> =>
    tls === undefined
      ? createNetServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEPALIVE_MS }, accept)
      : createTlsListener({ files: tls, logger, onConnection: accept, handshakeMs: headersMs });

  return {
    services: served.map(({ service }) => service),
    listen: async ({ host, port }) => {
      const opened = await open();
      opened.maxConnections = maxConnections;
      listener = opened;
      return new Promise((resolve, reject) => {
        opened.once("error", reject);
        opened.listen(port, host, () => {
          opened.off("error", reject);
          resolve(opened.address() as AddressInfo);
        });
      });
    },
    get address() {
      const address = listener?.address() ?? null;
      if (address === null || typeof address === "string") throw new Error("the server is not listening");
      return address;
    },
    async drain({ delayMs = 0, deadlineMs = 10_000 } = {}) {
      health.stopServing();
      if (delayMs > 0) await sleep(delayMs);
      draining = true;
      const closed = new Promise<void>((resolve) => (listener === undefined ? resolve() : listener.close(() => resolve())));
      http.close();
      http.closeIdleConnections();
      for (const socket of silent) socket.destroy();
      injector.drain(deadlineMs);
      const timer = setTimeout(() => sockets.forEach((socket) => socket.destroy()), deadlineMs);
      await closed;
      clearTimeout(timer);
      clearInterval(sweep);
      grpc.forceShutdown();
    },
  };
}
