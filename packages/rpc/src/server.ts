import { createServer as createHttpServer } from "node:http";
import { createServer as createNetServer, type AddressInfo, type Server as NetServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import type { Logger } from "@flyte-ts/telemetry";
import { Server as GrpcServer, ServerCredentials } from "@grpc/grpc-js";
import { DEFAULT_STALL_MS } from "./drained.js";
import { addService } from "./grpc-service.js";
import { createHealth } from "./health.js";
import type { HttpRequestHead, HttpRoute } from "./http-route.js";
import { createGateway } from "./rest/gateway.js";
import { createReflection } from "./reflection.js";
import type { CallContext, Interceptor, ServedService } from "./service.js";
import { sniff } from "./sniff.js";
import { createTlsListener, type TlsFiles } from "./tls-listener.js";

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
  /** Asked before the body of a REST call is read, which may be large; it rejects with an RpcError. The interceptors ask again. */
  readonly admitBody?: (method: DescMethod, metadata: CallContext["metadata"]) => Promise<void>;
  /** Run around every call, the first one outermost. */
  readonly interceptors?: readonly Interceptor[];
  /** Names that the health service reports as serving, besides the empty one; `flyteadmin` when not given. */
  readonly healthNames?: readonly string[];
  /** Largest request in bytes, 4 MiB when not given; a larger one answers RESOURCE_EXHAUSTED. */
  readonly maxMessageBytes?: number;
  /** Origins that browsers may call from; `*` for any, which is the default. Empty turns CORS off. */
  readonly corsOrigins?: readonly string[];
  /** Request headers that browsers may send besides Content-Type. */
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

export const DEFAULT_MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
const MAX_METADATA_BYTES = 32 * 1024;
/** Longer than load balancers and HTTP clients keep what is idle: who ends a connection first takes no request down with it. */
const HTTP_KEEP_ALIVE_MS = 75_000;
/** Clients that vanish without a word are found out: their streams would go on for ever. */
const KEEPALIVE_MS = 60_000;
const KEEPALIVE_ANSWER_MS = 20_000;

/** One port for gRPC (HTTP/2) and for REST (HTTP/1.1), in plaintext or over TLS. */
export function createRpcServer(options: RpcServerOptions): RpcServer {
  const {
    logger,
    services,
    interceptors = [],
    maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES,
    streamStallMs: stallMs = DEFAULT_STALL_MS,
  } = options;
  const grpc = new GrpcServer({
    "grpc.max_receive_message_length": maxMessageBytes,
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
  for (const each of served) addService(grpc, each, { logger, interceptors, stallMs });
  const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure());
  let draining = false;
  const gateway = createGateway({
    services,
    httpRoutes: options.httpRoutes ?? [],
    cors: { origins: options.corsOrigins ?? ["*"], headers: ["Content-Type", ...(options.corsHeaders ?? [])] },
    maxMessageBytes,
    logger,
    interceptors,
    admitHttp: options.admitHttp,
    admitBody: options.admitBody,
    stallMs,
  });
  const http = createHttpServer({ maxHeaderSize: MAX_METADATA_BYTES, keepAliveTimeout: HTTP_KEEP_ALIVE_MS }, (request, response) => {
    // A kept connection would hold up the drain until its client lets go.
    response.once("finish", () => draining && request.socket.end());
    gateway(request, response);
  });
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
      : createTlsListener({ files: tls, logger, onConnection: accept });

  return {
    services: served.map(({ service }) => service),
    listen: async ({ host, port }) => {
      const opened = await open();
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
      grpc.forceShutdown();
    },
  };
}
