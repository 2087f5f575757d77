import { createRegistry, type DescMethod, toBinary, type Message, type Registry } from "@bufbuild/protobuf";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "@flyte-ts/telemetry";
import { Code } from "../code.js";
import { createDispatch, streamsOut, type Dispatch, type DispatchOptions } from "../dispatch.js";
import { decoded } from "../encoded.js";
import type { HttpRequestHead, HttpRoute } from "../http-route.js";
import { requestIdOf } from "../request-id.js";
import { RpcError, toRpcError } from "../rpc-error.js";
import type { CallContext, ServedService } from "../service.js";
import { bindRequest } from "./bind-request.js";
import { createCodecs, type Codec } from "./codec.js";
import { decideCors, type CorsPolicy } from "./cors.js";
import { closedSignal, headerOf, restContext, timeoutMs } from "./http-context.js";
import { sendEvents, wantsEvents, withLastEventId } from "./event-stream.js";
import { httpStatusOf } from "./http-status.js";
import { sendJsonLines } from "./json-lines.js";
import { createOpenApi } from "./openapi.js";
import { readBody } from "./read-body.js";
import { parseQuery, parseRequestPath, type ParsedQuery } from "./request-path.js";
import { createRouteTable, type Matched, type Route, type RouteTable } from "./route-table.js";

export interface GatewayOptions extends DispatchOptions {
  readonly services: readonly ServedService[];
  readonly httpRoutes: readonly HttpRoute[];
  readonly cors: CorsPolicy;
  readonly maxMessageBytes: number;
  readonly admitHttp: ((head: HttpRequestHead) => Promise<void>) | undefined;
  readonly admitBody: ((method: DescMethod, metadata: CallContext["metadata"]) => Promise<void>) | undefined;
  /** How long a client may take nothing of a stream. */
  readonly stallMs: number;
}

/** JSON is longer than the message that it stands for; the message's own limit is checked after decoding. */
const JSON_OVERHEAD = 4;
const FORM = "application/x-www-form-urlencoded";

/** The REST face of services, as grpc-gateway v2 gives it. It handles every request and never throws. */
export function createGateway(options: GatewayOptions): (request: IncomingMessage, response: ServerResponse) => void {
  const gateway = new Gateway(options);
  return (request, response) => {
    gateway.handle(request, response).catch((error: unknown) => {
      options.logger.error({ err: error, path: pathOf(request) }, "http request failed");
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  };
}

class Gateway {
  readonly #table: RouteTable;
  readonly #dispatches: ReadonlyMap<Route, Dispatch>;
  readonly #codecs: ReturnType<typeof createCodecs>;
  readonly #httpRoutes: readonly HttpRoute[];
  readonly #cors: CorsPolicy;
  readonly #maxMessageBytes: number;
  readonly #logger: Logger;
  readonly #stallMs: number;
  readonly #admitHttp: GatewayOptions["admitHttp"];
  readonly #admitBody: GatewayOptions["admitBody"];

  constructor(options: GatewayOptions) {
    const { services, httpRoutes, cors, maxMessageBytes, logger } = options;
    this.#table = createRouteTable(services);
    this.#dispatches = new Map(this.#table.routes.map((route) => [route, createDispatch(route.served, route.method, options)]));
    this.#codecs = createCodecs(registryOf(services));
    this.#httpRoutes = [...httpRoutes, healthRoute, openApiRoute(this.#table)];
    this.#cors = cors;
    this.#maxMessageBytes = maxMessageBytes;
    this.#logger = logger;
    this.#stallMs = options.stallMs;
    this.#admitHttp = options.admitHttp;
    this.#admitBody = options.admitBody;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Answers hold what users have written; no browser is to take one for a page.
    response.setHeader("X-Content-Type-Options", "nosniff");
    const decision = decideCors(request, this.#cors);
    for (const [name, value] of Object.entries(decision.headers)) response.setHeader(name, value);
    if (decision.kind === "answer") {
      response.writeHead(decision.status).end();
      return;
    }
    const { contentType, accept } = {
      contentType: request.headersDistinct["content-type"] ?? [],
      accept: request.headersDistinct.accept ?? [],
    };
    const codecs = this.#codecs.choose({ contentType, accept });
    const path = parseRequestPath(request.url ?? "/");
    switch (path.kind) {
      case "malformed":
        sendError(response, codecs.response, { error: new RpcError(Code.INVALID_ARGUMENT, path.reason) });
        return;
      case "redirect":
        response.writeHead(307, { Location: path.location }).end();
        return;
      case "path":
        break;
    }
    const plain = this.#httpRoutes.find((route) =>
      route.path.endsWith("/") ? path.encoded.startsWith(route.path) : path.encoded === route.path,
    );
    if (plain) {
      if (!(await this.#admits(plain, { request, response, path: path.encoded, codec: codecs.response }))) return;
      await this.#handlePlain(plain, { request, response, encoded: path.encoded, query: path.query });
      return;
    }
    try {
      const target = this.#lookup(request, path.components);
      if (this.#admitBody !== undefined) await this.#admitBody(target.matched.route.method, { get: (name) => headerOf(request, name) });
      const body = await readBody(
        request,
        codecs.request.contentType === "application/json" ? this.#maxMessageBytes * JSON_OVERHEAD : this.#maxMessageBytes,
      );
      const query = queryOf(path.query, target.formBody ? body : undefined);
      const input = { codec: codecs.request, body: target.formBody ? new Uint8Array(0) : body, query };
      const message = bindRequest(target.matched, input);
      this.#checkSize(target.matched.route, message, input.body);
      await this.#call(target.matched.route, message, { request, response, codec: codecs.response });
    } catch (thrown) {
      const error = toRpcError(thrown);
      if (!(thrown instanceof RpcError)) this.#logger.error({ err: thrown, path: pathOf(request) }, "http request failed");
      // What is left of a body that was not read would be taken for the next request.
      if (!request.complete) response.setHeader("Connection", "close");
      sendError(response, codecs.response, { error });
    }
  }

  /** A form may stand in for a GET whose query is too long for a URL, or name its method in X-HTTP-Method-Override. */
  #lookup(request: IncomingMessage, components: readonly string[]): { readonly matched: Matched; readonly formBody: boolean } {
    const form = request.method === "POST" && request.headers["content-type"] === FORM;
    const override = form ? request.headersDistinct["x-http-method-override"]?.[0] : undefined;
    const lookup = this.#table.find(override?.toUpperCase() ?? request.method ?? "GET", components);
    switch (lookup.kind) {
      case "found":
        return { matched: lookup.matched, formBody: override !== undefined };
      case "wrong-method":
        if (form && override === undefined && lookup.get) return { matched: lookup.get, formBody: true };
        throw new RpcError(Code.UNIMPLEMENTED, "Method Not Allowed");
      case "unknown":
        throw new RpcError(Code.NOT_FOUND, "Not Found");
    }
  }

  #checkSize(route: Route, message: Message, body: Uint8Array): void {
    if (body.length <= this.#maxMessageBytes) return;
    const { length } = toBinary(route.method.input, message);
    if (length > this.#maxMessageBytes)
      throw new RpcError(Code.RESOURCE_EXHAUSTED, `request of ${length} bytes is larger than ${this.#maxMessageBytes}`);
  }

  async #call(route: Route, asked: Message, { request, response, codec }: Exchange & { readonly codec: Codec }): Promise<void> {
    const dispatch = this.#dispatches.get(route);
    if (!dispatch) throw new Error(`no dispatch for ${route.template.text}`);
    const limit = timeoutMs(request);
    const closed = closedSignal(response);
    const signal = limit === undefined ? closed : AbortSignal.any([closed, AbortSignal.timeout(limit)]);
    const context = restContext({ method: route.method, request, signal });
    response.setHeader("X-Request-Id", context.requestId);
    if (streamsOut(route.method)) {
      const { input, output } = route.method;
      const options = { response, codec: this.#codecs.streaming(codec), output, stallMs: this.#stallMs };
      if (wantsEvents(request.headersDistinct.accept ?? [])) {
        await sendEvents(options, (emit) => dispatch.many(withLastEventId(input, asked, request), context, emit));
      } else await sendJsonLines(options, (emit) => dispatch.many(asked, context, emit));
      return;
    }
    const answered = dispatch.one(asked, context);
    const answer = limit === undefined ? await answered : await withinDeadline(answered, { signal, closed });
    const message = decoded(answer);
    const written = codec.write(route.method.output, message);
    response.writeHead(200, { ...route.served.answerHeaders?.(route.method, message), "Content-Type": codec.contentType });
    response.end(written);
  }

  async #admits(route: HttpRoute, { request, response, path, codec }: Exchange & { path: string; codec: Codec }): Promise<boolean> {
    if (route.open === true || this.#admitHttp === undefined) return true;
    try {
      await this.#admitHttp({ method: request.method ?? "GET", path, metadata: { get: (name) => headerOf(request, name) } });
      return true;
    } catch (thrown) {
      if (!(thrown instanceof RpcError)) this.#logger.error({ err: thrown, path }, "http request failed");
      if (!request.complete) response.setHeader("Connection", "close");
      sendError(response, codec, { error: toRpcError(thrown) });
      return false;
    }
  }

  async #handlePlain(
    route: HttpRoute,
    { request, response, encoded, query }: Exchange & { readonly encoded: string; readonly query: string },
  ): Promise<void> {
    const requestId = requestIdOf(request.headersDistinct["x-request-id"]?.[0]);
    response.setHeader("X-Request-Id", requestId);
    await route.handle(request, response, {
      requestId,
      signal: closedSignal(response),
      path: encoded,
      query: new URLSearchParams(query),
    });
  }
}

/** All messages that the services' files and their imports know: what an Any may hold. */
function registryOf(services: readonly ServedService[]): Registry {
  const files = new Set(services.map((served) => served.service.file));
  for (const file of files) for (const dependency of file.dependencies) files.add(dependency);
  return createRegistry(...files);
}

/** What may be logged of a target: queries of sign-in pages hold codes. */
function pathOf(request: IncomingMessage): string {
  return request.url?.split("?")[0] ?? "";
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

function queryOf(text: string, form: Uint8Array | undefined): ParsedQuery {
  const formText = form ? Buffer.from(form).toString("latin1") : "";
  const query = parseQuery([text, formText].filter((each) => each !== "").join("&"));
  if (!query)
    throw new RpcError(Code.INVALID_ARGUMENT, "the query is not valid percent-encoded UTF-8, or has a semicolon outside an escape");
  return query;
}

function withinDeadline<T>(answered: Promise<T>, { signal, closed }: { signal: AbortSignal; closed: AbortSignal }): Promise<T> {
  const expired = new Promise<never>((_, reject) => {
    const fail = (): void =>
      reject(
        closed.aborted ? new RpcError(Code.CANCELLED, "the client is gone") : new RpcError(Code.DEADLINE_EXCEEDED, "deadline exceeded"),
      );
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail, { once: true });
  });
  return Promise.race([answered, expired]);
}

function sendError(response: ServerResponse, codec: Codec, { error }: { error: RpcError }): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const headers: Record<string, string> = { "Content-Type": codec.contentType };
  if (error.code === Code.UNAUTHENTICATED) headers["WWW-Authenticate"] = error.message.replace(/[^\x20-\x7e]/g, "?");
  response.writeHead(httpStatusOf(error.code), headers);
  response.end(codec.writeError(error));
}

const healthRoute: HttpRoute = {
  path: "/healthcheck",
  open: true,
  handle: (_request, response) => {
    response.writeHead(200).end();
  },
};

function openApiRoute(table: RouteTable): HttpRoute {
  let text: string | undefined;
  return {
    path: "/api/v1/openapi",
    handle: (_request, response) => {
      text ??= JSON.stringify(createOpenApi(table.routes));
      response.writeHead(200, { "Content-Type": "application/json" }).end(text);
    },
  };
}
