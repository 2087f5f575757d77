import { createServer as createHttpServer } from "node:http";
import { createServer as createNetServer, type AddressInfo, type Server as NetServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { DescService } from "@bufbuild/protobuf";
import { createHttpPolicy, type HttpPolicy } from "@flyte-ts/http-policy";
import type { Budget } from "@flyte-ts/input-limits";
import type { Logger } from "@flyte-ts/telemetry";
import { Server as GrpcServer, ServerCredentials } from "@grpc/grpc-js";
import { DEFAULT_STALL_MS } from "./drained.js";
import type { CallGuard } from "./call-guard.js";
import { Code } from "./code.js";
import { type BaseCall, createGrpcIntake, type GrpcMethod } from "./grpc-intake.js";
import { addService, contextBeforeHandler, statusOf } from "./grpc-service.js";
import { createHealth } from "./health.js";
import type { HttpRequestHead, HttpRoute } from "./http-route.js";
import { createGateway } from "./rest/gateway.js";
import { createReflection } from "./reflection.js";
import { sharedBudget } from "./intake.js";
import { DEFAULT_MAX_MESSAGE_BYTES, type RequestLimits, uniformLimits } from "./request-limits.js";
import { RpcError } from "./rpc-error.js";
import type { Interceptor, ServedService } from "./service.js";
import { sniff } from "./sniff.js";
import { createTlsListener, type TlsFiles } from "./tls-listener.js";
import { Waiting } from "./waiting.js";

export interface RpcServerOptions {
  readonly logger: Logger;
  readonly services: readonly ServedService[];
  /** Plain HTTP handlers beside the REST routes of the services. */
  readonly httpRoutes?: readonly HttpRoute[];
  /**
   * Asked before a plain HTTP handler runs that is not `open`; it rejects with an RpcError. The interceptors do not see those
   * requests.
   */
  readonly admitHttp?: (head: HttpRequestHead) => Promise<void>;
  /** Authenticates and authorizes callers, before their requests are read and again when they are decoded; absent: anyone may call. */
  readonly guard?: CallGuard | undefined;
  /** Run around every call, the first one outermost. */
  readonly interceptors?: readonly Interceptor[];
  /** Names that the health service reports as serving, besides the empty one; `flyteadmin` when not given. */
  readonly healthNames?: readonly string[];
  /** Limits of the request of each method; 4 MiB and a million elements when not given. A larger one answers RESOURCE_EXHAUSTED. */
  readonly limits?: RequestLimits;
  /** Memory for requests in flight; shared by all servers of the process when not given. */
  readonly budget?: Budget;
  /** How long a client may take to send its request, or the next one of a stream, ms; 30 s when not given. REST bodies have five minutes. */
  readonly requestMs?: number;
  /** How long a client may take for the handshake of TLS, and to send the head of an HTTP/1.1 request, ms; 15 s when not given. */
  readonly headersMs?: number;
  /** Most calls that may wait for their request at once, 2,048 when not given; above it the connection with the most loses its oldest. */
  readonly maxWaiting?: number;
  /** Most connections; 10,000 when not given. */
  readonly maxConnections?: number;
  /** Decides which requests are served, by host and origin; the rules of a loopback listener when not given. */
  readonly httpPolicy?: HttpPolicy;
  /** Request headers that pages of allowed origins may send besides Content-Type. */
  readonly corsHeaders?: readonly string[];
  /** Certificate of the port; absent: plaintext. */
  readonly tls?: TlsFiles | undefined;
  /** How long a client may take nothing of a stream that has something for it, before it is dropped; 30 s when not given. */
  readonly streamStallMs?: number;
}

export interface RpcServer {
  /** Everything that is served, also health and reflection. */
  readonly services: readonly DescService[];
  /** Starts to accept; port 0 takes any free one. Rejects when the port is taken. */
  listen(at: { readonly host: string; readonly port: number }): Promise<AddressInfo>;
  /** Where it listens; throws before `listen`. */
  readonly address: AddressInfo;
  /**
   * Says that it is not ready, answers on for `delayMs` (0 when not given), then accepts no more, lets running calls end, and
   * breaks off what is left after `deadlineMs` (10 s when not given).
   */
  drain(options?: { readonly delayMs?: number; readonly deadlineMs?: number }): Promise<void>;
}

const MAX_METADATA_BYTES = 32 * 1024;
/** Longer than load balancers and HTTP clients keep what is idle: who ends a connection first takes no request down with it. */
const HTTP_KEEP_ALIVE_MS = 75_000;
/** Clients that vanish without a word are found out: their streams would go on for ever. */
const KEEPALIVE_MS = 60_000;
const KEEPALIVE_ANSWER_MS = 20_000;
/** Calls that one HTTP/2 connection may have open; clients queue what is above. */
const MAX_STREAMS = 1_000;
/** An HTTP/2 connection without a call for so long is asked to go; clients connect again when they need it. */
const IDLE_CONNECTION_MS = 600_000;
const REQUEST_MS = 30_000;
const MAX_WAITING = 2_048;
const MAX_CONNECTIONS = 10_000;
/** Head of an HTTP/1.1 request, from its first byte or the end of the request before it. */
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
    maxWaiting = MAX_WAITING,
    maxConnections = MAX_CONNECTIONS,
    streamStallMs: stallMs = DEFAULT_STALL_MS,
    httpPolicy = createHttpPolicy({ listensOn: "127.0.0.1" }),
  } = options;
  const waiting = new Waiting<BaseCall>(maxWaiting);
  const methods = new Map<string, GrpcMethod>();
  const intake = createGrpcIntake(methods, { limits, budget, guard, httpPolicy, waiting, contextOf: contextBeforeHandler, statusOf });
  const overdue = new RpcError(Code.DEADLINE_EXCEEDED, `the request was not complete within ${requestMs} ms`);
  const sweep = setInterval(
    () => {
      for (const call of waiting.takeBefore(performance.now() - requestMs)) intake.refuse(call, overdue);
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
    "grpc.keepalive_timeout_ms": KEEPALIVE_ANSWER_MS,
  });
  const health = createHealth(options.healthNames ?? ["flyteadmin"]);
  const offered = services.filter((served) => served.implementation).map((served) => served.service);
  const reflection = createReflection([...offered, health.served.service]);
  const served = [...services, health.served, ...reflection];
  for (const each of served) addService(grpc, each, { logger, interceptors, guard, stallMs, intake, methods });
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
    admitHttp: options.admitHttp,
    stallMs,
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
      // A kept connection would hold up the drain until its client lets go.
      response.once("finish", () => draining && request.socket.end());
      gateway(request, response);
    },
  );
  // It never listens itself; this starts its watch over slow and idle connections.
  http.emit("listening");

  const sockets = new Set<Socket>();
  const accept = (socket: Socket): void => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", (error) => logger.debug({ err: error, peer: socket.remoteAddress }, "connection failed"));
    sniff(socket, (protocol) => {
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
      if (address === null || typeof address === "string") throw new Error("the server does not listen");
      return address;
    },
    async drain({ delayMs = 0, deadlineMs = 10_000 } = {}) {
      health.stopServing();
      if (delayMs > 0) await sleep(delayMs);
      draining = true;
      const closed = new Promise<void>((resolve) => (listener === undefined ? resolve() : listener.close(() => resolve())));
      http.close();
      http.closeIdleConnections();
      injector.drain(deadlineMs);
      const timer = setTimeout(() => sockets.forEach((socket) => socket.destroy()), deadlineMs);
      await closed;
      clearTimeout(timer);
      clearInterval(sweep);
      grpc.forceShutdown();
    },
  };
}
