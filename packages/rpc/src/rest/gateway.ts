import { create, createRegistry, type DescMessage, type DescMethodUnary, toBinary, type Message, type Registry } from "@bufbuild/protobuf";
import type { MemoryBudget } from "@flyte-ts/input-limits";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpPolicy, Rejection } from "@flyte-ts/http-policy";
import type { Logger } from "@flyte-ts/telemetry";
import { Code } from "../code.js";
import { createDispatch, streamsOut, type Dispatch, type DispatchOptions } from "../dispatch.js";
import { decodeIfEncoded } from "../encoded-message.js";
import type { CallMethod, HttpRequestHead, HttpRoute } from "../http-route.js";
import { Intake, RequestTooLarge } from "../intake/intake.js";
import { requestIdOf } from "../request-id.js";
import { JSON_BODY, type RequestLimits, SMALL_REQUEST } from "../intake/request-limits.js";
import { RpcError, toRpcError } from "../rpc-error.js";
import type { CallContext, ServedService } from "../service.js";
import { bindRequest } from "./routing/bind-request.js";
import { createCodecs, type Codec, type Codecs } from "./json/codec.js";
import { decideCors, type CorsPolicy } from "./cors.js";
import { closedSignal, headerOf, restContext, timeoutMs } from "./http-context.js";
import { endEarly } from "./end-early.js";
import { httpStatusOf } from "./http-status.js";
import { createOpenApi } from "./routing/openapi.js";
import { readBody } from "./read-body.js";
import { parseQuery, parseRequestPath, type ParsedQuery } from "./routing/request-path.js";
import { createRouteTable, type Matched, type Route, type RouteTable } from "./routing/route-table.js";
import { mayCompress, sendAnswer } from "./send-answer.js";
import { ResponseCompression } from "./compression/response-compression.js";
import { sendStream } from "./stream/send-stream.js";

export interface GatewayOptions extends DispatchOptions {
  readonly services: readonly ServedService[];
  readonly httpRoutes: readonly HttpRoute[];
  readonly httpPolicy: HttpPolicy;
  /** Request headers that pages of allowed origins may send. */
  readonly corsHeaders: readonly string[];
  readonly limits: RequestLimits;
  readonly budget: MemoryBudget;
  readonly authorizeHttp: ((head: HttpRequestHead) => Promise<void>) | undefined;
  /** Time for which a client may leave a stream unread. */
  readonly stallTimeoutMs: number;
}

/** JSON is longer than its message; the message's own limit is checked after decoding. */
const JSON_OVERHEAD = 4;
/** Maximum by which JSON may exceed the limit of its message. */
const JSON_OVERHEAD_BYTES = 1024 * 1024;
/** A form replaces a query that is too long for a URL. */
const FORM_BYTES = 256 * 1024;
/** JSON nested no deeper than this yields a message that every decoder accepts. */
const SHALLOW_JSON = 30;
const NOTHING = new Uint8Array(0);
const JSON_TYPE = "application/json";
const FORM = "application/x-www-form-urlencoded";

/**
 * The REST interface of services, compatible with grpc-gateway v2. Handles every request and never
 * throws.
 */
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
  readonly #httpPolicy: HttpPolicy;
  readonly #cors: CorsPolicy;
  readonly #limits: RequestLimits;
  readonly #budget: MemoryBudget;
  readonly #guard: GatewayOptions["guard"];
  readonly #logger: Logger;
  readonly #stallTimeoutMs: number;
  readonly #compression = new ResponseCompression();
  readonly #authorizeHttp: GatewayOptions["authorizeHttp"];

  constructor(options: GatewayOptions) {
    const { services, httpRoutes, httpPolicy, corsHeaders, limits, budget, guard, logger } = options;
    this.#table = createRouteTable(services);
    this.#dispatches = new Map(this.#table.routes.map((route) => [route, createDispatch(route.served, route.method, options)]));
    this.#codecs = createCodecs(registryOf(services));
    this.#httpRoutes = [...httpRoutes, healthRoute, openApiRoute(this.#table, this.#compression)];
    this.#httpPolicy = httpPolicy;
    this.#cors = { mayRead: httpPolicy.allowsOrigin, headers: corsHeaders };
    this.#limits = limits;
    this.#budget = budget;
    this.#guard = guard;
    this.#logger = logger;
    this.#stallTimeoutMs = options.stallTimeoutMs;
    this.#authorizeHttp = options.authorizeHttp;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Answers contain users' text; browsers must not interpret them as pages.
    response.setHeader("X-Content-Type-Options", "nosniff");
    const refusal = this.#httpPolicy.checkRequest(request);
    if (refusal !== undefined) return sendRefusal({ request, response }, this.#codecs, refusal);
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
        sendError({ request, response }, codecs.response, new RpcError(Code.INVALID_ARGUMENT, path.reason));
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
      // A form that replaces a GET only reads data, so the type of its body needs no check.
      const refusedBody = target.formBody ? undefined : this.#httpPolicy.checkBody(request);
      if (refusedBody !== undefined) return sendRefusal({ request, response }, this.#codecs, refusedBody);
      await this.#serve({ ...target, query: path.query }, { request, response, codecs });
    } catch (thrown) {
      const error = toRpcError(thrown);
      if (!(thrown instanceof RpcError)) this.#logger.error({ err: thrown, path: pathOf(request) }, "http request failed");
      sendError({ request, response }, codecs.response, error);
    }
  }

  /**
   * A form may replace a GET whose query is too long for a URL, or name its method in
   * X-HTTP-Method-Override.
   */
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

  async #serve(
    target: CallTarget,
    { request, response, codecs }: Exchange & { readonly codecs: ReturnType<Codecs["choose"]> },
  ): Promise<void> {
    const { route } = target.matched;
    const dispatch = this.#dispatches.get(route);
    if (!dispatch) throw new Error(`no dispatch for ${route.template.text}`);
    const limit = timeoutMs(request);
    const closed = closedSignal(response);
    const signal = limit === undefined ? closed : AbortSignal.any([closed, AbortSignal.timeout(limit)]);
    const context = restContext({ method: route.method, request, signal });
    response.setHeader("X-Request-Id", context.requestId);
    const requestMessage = await this.#receive(target, { request, response, codec: codecs.request, context }).catch((thrown: unknown) =>
      dispatch.refuse(toRpcError(thrown), context),
    );
    await this.#respond({ route, dispatch, requestMessage, context, limit, closed }, { request, response, codec: codecs.response });
  }

  /**
   * Reads the request message: after the caller is admitted, and within the limits of the method.
   */
  async #receive(
    { matched, formBody, query }: CallTarget,
    { request, response, codec, context }: Exchange & { readonly codec: Codec; readonly context: CallContext },
  ): Promise<Message> {
    const { route } = matched;
    const intake = new Intake(this.#limits(route.method), this.#budget, await this.#guard?.admit(context));
    response.once("close", () => intake.release());
    const most = maxBodyBytes({ route, formBody, codec, intake });
    const body = await readBody(request, most, (bytes) => intake.received(bytes, most));
    const parsed = queryOf(query, formBody ? body : undefined);
    const input = { codec, body: formBody ? NOTHING : body, query: parsed };
    const schema = bodySchema(route);
    const depth = schema === undefined || input.body.length === 0 ? 0 : checkBody(intake, schema, input);
    const message = bindRequest(matched, input);
    // Checks the encoded message where the JSON does not show whether it is within the limits: JSON
    // may be longer than the encoding, and nested less deep.
    if (input.body.length > intake.limits.bytes || depth > SHALLOW_JSON)
      intake.decoded(route.method.input, toBinary(route.method.input, message));
    return message;
  }

  async #respond(
    { route, dispatch, requestMessage, context, limit, closed }: GatewayCall,
    { request, response, codec }: Exchange & { readonly codec: Codec },
  ): Promise<void> {
    if (streamsOut(route.method)) {
      const encoding = mayCompress(route) ? this.#compression.streamEncoding(request, response) : undefined;
      const options = { response, codec: this.#codecs.streaming(codec), encoding, stallTimeoutMs: this.#stallTimeoutMs };
      await sendStream({ ...options, request, method: route.method }, (received, emit) =>
        dispatch.stream(received(requestMessage), context, emit),
      );
      return;
    }
    const responded = dispatch.unary(requestMessage, context);
    const answer = limit === undefined ? await responded : await withinDeadline(responded, { signal: context.signal, closed });
    await sendAnswer(answer, { request, response, route, codec, compression: this.#compression });
  }

  async #admits(route: HttpRoute, { request, response, path, codec }: Exchange & { path: string; codec: Codec }): Promise<boolean> {
    if (route.public === true || this.#authorizeHttp === undefined) return true;
    try {
      await this.#authorizeHttp({ method: request.method ?? "GET", path, metadata: { get: (name) => headerOf(request, name) } });
      return true;
    } catch (thrown) {
      if (!(thrown instanceof RpcError)) this.#logger.error({ err: thrown, path }, "http request failed");
      sendError({ request, response }, codec, toRpcError(thrown));
      return false;
    }
  }

  async #handlePlain(
    route: HttpRoute,
    { request, response, encoded, query }: Exchange & { readonly encoded: string; readonly query: string },
  ): Promise<void> {
    const requestId = requestIdOf(request.headersDistinct["x-request-id"]?.[0]);
    response.setHeader("X-Request-Id", requestId);
    const readBounded = async (maxBytes: number): Promise<Uint8Array> => {
      const intake = new Intake({ ...SMALL_REQUEST, bytes: maxBytes }, this.#budget);
      response.once("close", () => intake.release());
      return readBody(request, maxBytes, (bytes) => intake.received(bytes));
    };
    await route.handle(request, response, {
      requestId,
      readBody: readBounded,
      signal: closedSignal(response),
      path: encoded,
      query: new URLSearchParams(query),
      call: this.#callMethod(request, response),
    });
  }

  /** Calls methods as the client of a plain request. */
  #callMethod(request: IncomingMessage, response: ServerResponse): CallMethod {
    const call = async (method: DescMethodUnary, init: Record<string, unknown>): Promise<Message> => {
      const route = this.#table.routes.find((each) => each.method === method);
      const dispatch = route && this.#dispatches.get(route);
      if (dispatch === undefined) throw new Error(`${method.parent.typeName}/${method.name} has no route`);
      const context = restContext({ method, request, signal: closedSignal(response) });
      // The guard's interceptor refuses callers who lack a right.
      await this.#guard?.admit(context);
      return decodeIfEncoded(await dispatch.unary(create(method.input, init), context));
    };
    return call as CallMethod;
  }
}

/** All message types of the services' files and their imports, which an Any may hold. */
function registryOf(services: readonly ServedService[]): Registry {
  const files = new Set(services.map((served) => served.service.file));
  for (const file of files) for (const dependency of file.dependencies) files.add(dependency);
  return createRegistry(...files);
}

/**
 * Returns the path of a request for logs. Omits the query, which on sign-in pages holds
 * authorization codes.
 */
function pathOf(request: IncomingMessage): string {
  return request.url?.split("?")[0] ?? "";
}

/** A call over HTTP: its route, and the source of its request. */
interface CallTarget {
  readonly matched: Matched;
  readonly formBody: boolean;
  readonly query: string;
}

interface GatewayCall {
  readonly route: Route;
  readonly dispatch: Dispatch;
  readonly requestMessage: Message;
  readonly context: CallContext;
  /** The client's timeout, ms. */
  readonly limit: number | undefined;
  readonly closed: AbortSignal;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Maximum size of a body: a route without a body still reads a little, since clients send empty
 * objects.
 */
function maxBodyBytes({
  route,
  formBody,
  codec,
  intake,
}: Pick<CallTarget, "formBody"> & { route: Route; codec: Codec; intake: Intake }): number {
  const { bytes } = intake.limits;
  if (formBody) return Math.min(bytes, FORM_BYTES);
  if (route.body.kind === "none") return Math.min(bytes, SMALL_REQUEST.bytes);
  return codec.contentType === JSON_TYPE ? Math.min(bytes * JSON_OVERHEAD, bytes + JSON_OVERHEAD_BYTES, JSON_BODY.bytes) : bytes;
}

function bodySchema({ method, body }: Route): DescMessage | undefined {
  switch (body.kind) {
    case "whole":
      return method.input;
    case "field":
      return body.field.message;
    case "none":
      return undefined;
  }
}

/** Checks a body before it is decoded; returns the nesting depth of its JSON. */
function checkBody(intake: Intake, schema: DescMessage, { codec, body }: { codec: Codec; body: Uint8Array }): number {
  if (codec.contentType === JSON_TYPE) return intake.json(schema, body);
  intake.message(schema, body);
  return 0;
}

function queryOf(text: string, form: Uint8Array | undefined): ParsedQuery {
  const formText = form ? Buffer.from(form).toString("latin1") : "";
  const query = parseQuery([text, formText].filter((each) => each !== "").join("&"));
  if (!query)
    throw new RpcError(Code.INVALID_ARGUMENT, "the query is not valid percent-encoded UTF-8, or has a semicolon outside an escape");
  return query;
}

function withinDeadline<T>(responding: Promise<T>, { signal, closed }: { signal: AbortSignal; closed: AbortSignal }): Promise<T> {
  const expired = new Promise<never>((_, reject) => {
    const fail = (): void =>
      reject(
        closed.aborted
          ? new RpcError(Code.CANCELLED, "the client has disconnected")
          : new RpcError(Code.DEADLINE_EXCEEDED, "deadline exceeded"),
      );
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail, { once: true });
  });
  return Promise.race([responding, expired]);
}

function sendError({ request, response }: Exchange, codec: Codec, error: RpcError): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const headers: Record<string, string> = { "Content-Type": codec.contentType };
  if (error.code === Code.UNAUTHENTICATED) headers["WWW-Authenticate"] = error.message.replace(/[^\x20-\x7e]/g, "?");
  const status = error instanceof RequestTooLarge ? 413 : httpStatusOf(error.code);
  endEarly(request, response, { status, headers, body: codec.writeError(error) });
}

/** Answers a refused request in JSON, and closes the connection: its body is not read. */
function sendRefusal({ request, response }: Exchange, codecs: ReturnType<typeof createCodecs>, { status, reason }: Rejection): void {
  const codec = codecs.choose({ contentType: [], accept: [] }).response;
  const code = status === 415 ? Code.INVALID_ARGUMENT : Code.PERMISSION_DENIED;
  const body = request.method === "HEAD" ? "" : codec.writeError(new RpcError(code, reason));
  endEarly(request, response, { status, headers: { "Content-Type": codec.contentType }, body });
}

const healthRoute: HttpRoute = {
  path: "/healthcheck",
  public: true,
  handle: (_request, response) => {
    response.writeHead(200).end();
  },
};

function openApiRoute(table: RouteTable, compression: ResponseCompression): HttpRoute {
  let text: string | undefined;
  return {
    path: "/api/v1/openapi",
    handle: async (request, response) => {
      text ??= JSON.stringify(createOpenApi(table.routes));
      const { body, headers } = await compression.encode(request, response, text);
      response.writeHead(200, { ...headers, "Content-Type": "application/json" }).end(body);
    },
  };
}
