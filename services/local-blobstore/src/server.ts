import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createHttpPolicy, type HttpPolicy } from "@flyte-ts/http-policy";
import { Counter, Histogram, type Logger, type Metrics } from "@flyte-ts/telemetry";
import { authenticate, type Credentials } from "./auth/authenticate.js";
import { readRequest } from "./http/request.js";
import { S3Error } from "./http/s3-error.js";
import { xmlDocument } from "./http/xml.js";
import { route } from "./operation/route.js";
import { DiskSpaceMonitor, isDiskFull } from "./store/disk-space.js";
import { Store } from "./store/store.js";
import { Uploads } from "./store/uploads.js";

export interface BlobstoreOptions {
  readonly dataDir: string;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly credentials: Credentials;
  readonly buckets: readonly string[];
  /**
   * Accepted host names of requests, and origins of web pages whose scripts may read responses; see
   * {@link import("@flyte-ts/http-policy").HttpPolicyOptions}.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  readonly allowedOrigins?: readonly string[];
  /** Timeout for reading the rest of a failed request, ms. Default 10 s. */
  readonly drainTimeoutMs?: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: () => Date;
}

export interface Blobstore {
  readonly port: number;
  /** Reason why writes fail now, such as a full disk; undefined when they succeed. */
  problem(): Promise<string | undefined>;
  /** Accepts no more requests and resolves when the current ones are answered. */
  close(): Promise<void>;
}

interface Exchange {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly sendContinue: () => void;
}

/** Serves the directory over the S3 protocol with path-style URLs. */
export async function startBlobstore(options: BlobstoreOptions): Promise<Blobstore> {
  const store = await Store.open(options.dataDir);
  const uploads = new Uploads(store.uploadsFolder, options.clock);
  await uploads.removeAbandoned();
  for (const bucket of options.buckets) await store.createBucket(bucket);
  const { dataDir, logger } = options;
  const diskSpace = new DiskSpaceMonitor({
    dataDir,
    probeDir: store.temporaryFolder,
    onChange: (problem) => {
      if (problem === undefined) logger.info({ folder: dataDir }, "the disk has free space again, writes resume");
      else logger.error({ folder: dataDir, error: problem }, "the disk is full, writes are rejected");
    },
  });
  const durations = new Histogram({
    name: "flyte_blobstore_request_duration_seconds",
    help: "Time from the headers of a request to the end of its response.",
    labelNames: ["operation"],
    buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10],
    registers: [options.metrics],
  });
  const failures = new Counter({
    name: "flyte_blobstore_refusals_total",
    help: "Failed requests by S3 error code.",
    labelNames: ["code"],
    registers: [options.metrics],
  });

  // Lets pages of the same site embed objects. A presigned URL is a secret, so only pages that hold
  // it can embed its object.
  const { host, allowedHosts, allowedOrigins = [] } = options;
  const policy = createHttpPolicy({ listenAddress: host, allowedHosts, allowedOrigins, embedding: "same-site" });

  const handle = async ({ message, response, sendContinue }: Exchange): Promise<void> => {
    const s3Error = policy.checkRequest(message);
    if (s3Error !== undefined) throw new S3Error("AccessDenied", s3Error.reason);
    setCorsHeaders(message, response, policy);
    const request = readRequest(message, sendContinue);
    if (request.path === "/healthz" && ["GET", "HEAD"].includes(request.method)) {
      response.writeHead(200, { "content-type": "text/plain", "content-length": 3 }).end("ok\n");
      return;
    }
    if (request.method === "OPTIONS") {
      response.writeHead(200, preflightHeaders(message)).end();
      return;
    }
    const auth = authenticate(request, options.credentials, options.clock());
    const context = { request, auth, response, store, uploads };
    const operation = route(context);
    const end = durations.startTimer({ operation: operation.name });
    await operation.run(context);
    end();
  };

  const sendFailure = (error: unknown, message: IncomingMessage, response: ServerResponse): void => {
    const fields = { method: message.method, path: withoutQuery(message.url) };
    if (isClientDisconnect(error)) {
      options.logger.debug(fields, "client disconnected");
      response.destroy();
      return;
    }
    const s3Error = toS3Error(error, diskSpace);
    failures.inc({ code: s3Error.code });
    if (s3Error.status === 500 || s3Error.status === 503) options.logger.error({ ...fields, error: String(error) }, "request failed");
    else options.logger.debug({ ...fields, code: s3Error.code, reason: s3Error.message }, "request rejected");
    sendError(s3Error, { message, response, drainTimeoutMs: options.drainTimeoutMs ?? DRAIN_TIMEOUT_MS });
  };

  let closing = false;
  const serve = (exchange: Exchange): void => {
    const { message, response } = exchange;
    // A client that keeps sending requests would otherwise keep its connection, and this server,
    // open.
    if (closing) response.setHeader("connection", "close");
    response.once("close", () => {
      if (closing) server.closeIdleConnections();
    });
    response.setHeader("server", "flyte-ts");
    response.setHeader("x-amz-request-id", randomBytes(8).toString("hex").toUpperCase());
    response.setHeader("x-content-type-options", "nosniff");
    handle(exchange).catch((error: unknown) => {
      sendFailure(error, message, response);
    });
  };

  // Requests have no timeout: a large object over a slow connection takes long.
  const server = createServer({
    maxHeaderSize: 32 * 1024,
    requestTimeout: 0,
    headersTimeout: 15_000,
    connectionsCheckingInterval: 5_000,
    keepAliveTimeout: 75_000,
  });
  server.on("request", (message, response) => {
    serve({ message, response, sendContinue: () => undefined });
  });
  server.on("checkContinue", (message: IncomingMessage, response: ServerResponse) => {
    serve({ message, response, sendContinue: () => response.writeContinue() });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    problem: () => diskSpace.problem(),
    close: () =>
      new Promise((resolve) => {
        closing = true;
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

const MAX_DRAIN_BYTES = 16 * 1024 * 1024;
const DRAIN_TIMEOUT_MS = 10_000;
const RESOURCE_EXHAUSTED_CODES = ["EMFILE", "ENFILE"];

/** True when the connection ended before the request or its response. */
function isClientDisconnect(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ERR_STREAM_PREMATURE_CLOSE" || code === "ECONNRESET" || code === "EPIPE";
}

function toS3Error(error: unknown, diskSpace: DiskSpaceMonitor): S3Error {
  if (error instanceof S3Error) return error;
  if (isDiskFull(error)) return new S3Error("SlowDown", diskSpace.reportFull(error));
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (RESOURCE_EXHAUSTED_CODES.includes(code)) return new S3Error("SlowDown", `the server is out of resources: ${code}`);
  return new S3Error("InternalError");
}

interface FailedExchange {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly drainTimeoutMs: number;
}

function sendError(error: S3Error, { message, response, drainTimeoutMs }: FailedExchange): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const requestId = String(response.getHeader("x-amz-request-id"));
  const body = xmlDocument(
    [
      "Error",
      [
        ["Code", error.code],
        ["Message", error.message],
        ["Resource", withoutQuery(message.url)],
        ["RequestId", requestId],
      ],
    ],
    "",
  );
  if (!message.complete) {
    // A client may read the response only after it has sent the whole body: a small rest is
    // drained, otherwise the connection is closed.
    if (message.headers.expect === undefined && Number(message.headers["content-length"]) <= MAX_DRAIN_BYTES)
      drain(message, drainTimeoutMs);
    else response.setHeader("connection", "close");
  }
  response.writeHead(error.status, { ...error.headers, "content-type": "application/xml", "content-length": Buffer.byteLength(body) });
  response.end(message.method === "HEAD" ? undefined : body);
}

/** Reads and discards the rest of a request; closes the connection after a timeout. */
function drain(message: IncomingMessage, timeoutMs: number): void {
  const timer = setTimeout(() => message.destroy(), timeoutMs);
  timer.unref();
  message.once("close", () => clearTimeout(timer)).resume();
}

/** Removes the query, which may contain a signature. */
function withoutQuery(url = ""): string {
  return url.replace(/\?.*$/s, "");
}

/** Lets scripts of an allowed origin read the response. */
function setCorsHeaders({ headers: { origin } }: IncomingMessage, response: ServerResponse, policy: HttpPolicy): void {
  if (origin === undefined || !policy.allowsOrigin(origin)) return;
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-expose-headers", "*");
  response.setHeader("vary", "origin");
}

function preflightHeaders(message: IncomingMessage): Record<string, string> {
  return {
    "access-control-allow-methods": "GET, HEAD, PUT, POST, DELETE",
    "access-control-allow-headers": message.headers["access-control-request-headers"] ?? "*",
    "access-control-max-age": "3600",
    "content-length": "0",
  };
}
