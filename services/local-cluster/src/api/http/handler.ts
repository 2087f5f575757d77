import type { IncomingMessage, ServerResponse } from "node:http";
import type { Metrics } from "@flyte-ts/telemetry";
import type { JsonObject } from "../../object/model.js";
import type { Stored } from "../../store/stored-object.js";
import { type AccessOptions, authenticate, checkPolicy } from "./access.js";
import { ApiError, badRequest, notFound } from "../api-error.js";
import { type ApiContext, objectName, type NamedTarget, storeKey, type Target } from "../context.js";
import { create } from "../verb/create.js";
import { discover } from "../type/discovery.js";
import { Lister } from "../verb/list.js";
import { OPENAPI_V2, OPENAPI_V2_PROTOBUF, openApi } from "../type/openapi.js";
import { patch, PATCH_TYPES } from "../verb/patch.js";
import { applyDelete, deleteOptions, handleDelete } from "../verb/delete.js";
import { parseProtobuf, PROTOBUF_MEDIA_TYPE } from "./protobuf-body.js";
import { encodeList, encodeOne, parseBody, type Representation, representationOf } from "../type/representation.js";
import { BodyReader, mediaType } from "./request-body.js";
import { answerReview } from "./reviews.js";
import { verbsOf } from "../type/resource-type.js";
import { parseRoute, pathNotFound } from "./route.js";
import { update } from "../verb/update.js";
import { WatchServer } from "../verb/watch-server.js";
import { parseYamlBody } from "./yaml-body.js";

export interface HandlerOptions {
  readonly context: ApiContext;
  readonly access: AccessOptions;
  /** Maximum size of a request body, bytes. */
  readonly maxRequestBytes: number;
  /** Returns why the service cannot work now; undefined when it can. */
  readonly notReady: () => string | undefined;
  /** Serves a pod's log. */
  readonly podLog: (pod: Stored, query: URLSearchParams, response: ServerResponse) => Promise<void>;
  readonly metrics: Metrics;
  /** Called with errors that the client did not cause. */
  readonly onError: (error: unknown) => void;
}

export interface Handler {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Number of open watches. */
  readonly watches: number;
  /** Ends the watches. */
  close(): void;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Retry-After of writes while the store cannot write, s. */
const RETRY_AFTER_S = 5;
const NO_QUERY = new URLSearchParams();

/** Serves the Kubernetes API over HTTP. */
export function createHandler(options: HandlerOptions): Handler {
  const { context } = options;
  const lister = new Lister(context);
  const watcher = new WatchServer(context);
  const bodies = new BodyReader(options.maxRequestBytes);

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = request.url ?? "/";
    const mark = url.indexOf("?");
    const query = mark < 0 ? NO_QUERY : new URLSearchParams(url.slice(mark + 1));
    const rawPath = mark < 0 ? url : url.slice(0, mark);
    response.setHeader("x-content-type-options", "nosniff");
    // The path may contain a token.
    response.setHeader("referrer-policy", "no-referrer");
    checkPolicy(request, options.access.policy);
    if (sendHealth(rawPath, response)) return;
    if (rawPath === "/metrics") {
      response.writeHead(200, { "content-type": options.metrics.contentType }).end(await options.metrics.metrics());
      return;
    }
    const path = authenticate(request, rawPath.length > 1 && rawPath.endsWith("/") ? rawPath.slice(0, -1) : rawPath, options.access);
    await serveApi({ request, response, path, query });
  };

  const sendHealth = (path: string, response: ServerResponse): boolean => {
    if (path !== "/healthz" && path !== "/livez" && path !== "/readyz") return false;
    const reason = path === "/readyz" ? options.notReady() : undefined;
    response.writeHead(reason === undefined ? 200 : 503, { "content-type": "text/plain; charset=utf-8" }).end(reason ?? "ok");
    return true;
  };

  const serveApi = async (exchange: Exchange): Promise<void> => {
    const { request, response, path } = exchange;
    if (request.method === "GET") {
      if (path === "/version") return sendJson(response, 200, VERSION);
      if (path === "/openapi/v2") {
        if (request.headers.accept?.includes("protobuf") !== true) return sendJson(response, 200, OPENAPI_V2);
        response.writeHead(200, { "content-type": "application/octet-stream" }).end(OPENAPI_V2_PROTOBUF);
        return;
      }
      const document = path.startsWith("/openapi/v3") ? openApi(context.types.all(), path) : undefined;
      if (document !== undefined) return sendJson(response, 200, document);
      const found = discover(context.types.all(), path, request.headers.accept ?? "");
      if (found !== undefined) {
        response.writeHead(200, { "content-type": found.contentType }).end(JSON.stringify(found.body));
        return;
      }
    }
    if (!path.startsWith("/api/") && !path.startsWith("/apis/")) throw pathNotFound();
    const reason = request.method === "GET" ? undefined : options.notReady();
    if (reason !== undefined) throw new ApiError("ServiceUnavailable", reason, { retryAfterSeconds: RETRY_AFTER_S });
    if (request.method === "POST" && /^\/apis\/auth(entication|orization)\.k8s\.io\//.test(path)) {
      const { text } = await bodies.read(request, response);
      const answer = answerReview(path, mediaType(request) === "application/json" ? parseBody(text) : undefined);
      if (answer !== undefined) return sendJson(response, 201, answer);
    }
    const target = parseRoute(context.types, path);
    if (target.name === undefined) await serveCollection(exchange, target);
    else await serveObject(exchange, { ...target, name: target.name });
  };

  const serveCollection = async (exchange: Exchange, target: Target): Promise<void> => {
    const { request, response, query } = exchange;
    const representation = representationOf(request.headers.accept, query.get("includeObject"));
    switch (request.method) {
      case "GET": {
        if (isWatch(query)) return watcher.serve({ target, query, representation, response });
        const page = await lister.list(target, query);
        return sendText(response, 200, encodeList(page.items, { type: target.type, representation, now: context.now(), meta: page.meta }));
      }
      case "POST": {
        if (target.type.namespaced && target.namespace === undefined) throw methodNotAllowed();
        const { value, bytes } = await readValue(exchange);
        const stored = await create(context, target, { body: value, bytes, dryRun: isDryRun(query) });
        return sendStored(exchange, { target, stored, representation, status: 201 });
      }
      case "DELETE": {
        if (!verbsOf(target.type).includes("deletecollection")) throw methodNotAllowed();
        const { value } = await readValue(exchange);
        const page = await lister.list(target, query);
        const chosen = deleteOptions(value, query);
        for (const { object } of page.items) {
          const one = { ...target, namespace: object.metadata.namespace, name: object.metadata.name };
          try {
            applyDelete(context, one, chosen);
          } catch (error) {
            if (!(error instanceof ApiError && error.code === 404)) throw error;
          }
        }
        await context.store.durable();
        return sendText(response, 200, encodeList(page.items, { type: target.type, representation, now: context.now(), meta: page.meta }));
      }
      default:
        throw methodNotAllowed();
    }
  };

  const serveObject = async (exchange: Exchange, target: NamedTarget): Promise<void> => {
    const { request, response, query } = exchange;
    const representation = representationOf(target.subresource === "log" ? undefined : request.headers.accept, query.get("includeObject"));
    switch (request.method) {
      case "GET": {
        // As in Kubernetes, subresources have no watches: one would show the whole object, which a
        // caller with access to the subresource alone may not see.
        if (target.subresource === undefined && isWatch(query)) return watcher.serve({ target, query, representation, response });
        const stored = context.store.get(storeKey(target));
        await context.store.durable(stored?.revision);
        if (stored === undefined) throw notFound(objectName(target));
        if (target.subresource === "log") return options.podLog(stored, query, response);
        return sendStored(exchange, { target, stored, representation, status: 200 });
      }
      case "PUT": {
        const { value, bytes } = await readValue(exchange);
        const stored = await update(context, target, { body: value, bytes, dryRun: isDryRun(query) });
        return sendStored(exchange, { target, stored, representation, status: 200 });
      }
      case "PATCH": {
        const type = PATCH_TYPES[mediaType(request) as keyof typeof PATCH_TYPES];
        if (type === undefined)
          throw new ApiError(
            "UnsupportedMediaType",
            `the body of the request was in an unknown format - accepted media types include: ${Object.keys(PATCH_TYPES).join(", ")}`,
          );
        const body = await bodies.read(request, response);
        const existed = type !== "apply" || context.store.get(storeKey(target)) !== undefined;
        const stored = await patch(context, target, { text: body.text, bytes: body.bytes, type, dryRun: isDryRun(query) });
        return sendStored(exchange, { target, stored, representation, status: existed ? 200 : 201 });
      }
      case "DELETE": {
        const { value } = await readValue(exchange);
        const { stored, gone } = await handleDelete(context, target, deleteOptions(value, query));
        if (gone && target.type.kind !== "Pod") return sendJson(response, 200, deletedStatus(target, stored));
        return sendStored(exchange, { target, stored, representation, status: 200 });
      }
      default:
        throw methodNotAllowed();
    }
  };

  const readValue = async ({ request, response }: Exchange): Promise<{ value: unknown; bytes: number }> => {
    const body = await bodies.read(request, response);
    const media = mediaType(request);
    if (body.bytes === 0) return { value: undefined, bytes: 0 };
    if (media === "application/yaml") return { value: parseYamlBody(body.text), bytes: body.bytes };
    if (media === PROTOBUF_MEDIA_TYPE) return { value: parseProtobuf(body.data), bytes: body.bytes };
    // Web pages may send bodies without a type, or with certain other types, without a preflight
    // request.
    if (media !== "application/json")
      throw new ApiError(
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml",
      );
    return { value: parseBody(body.text), bytes: body.bytes };
  };

  const sendStored = (
    exchange: Exchange,
    answer: { target: Target; stored: Stored; representation: Representation; status: number },
  ): void => {
    const { target, stored, representation, status } = answer;
    sendText(exchange.response, status, encodeOne(stored, { type: target.type, representation, now: context.now() }));
  };

  return {
    handle: (request, response) => {
      serve(request, response).catch((error: unknown) => {
        if (!(error instanceof ApiError)) options.onError(error);
        if (response.headersSent || response.destroyed) {
          response.destroy();
          return;
        }
        const shown = error instanceof ApiError ? error : new ApiError("InternalError", `Internal error occurred: ${String(error)}`);
        // Prevents the unread rest of the body from being parsed as the next request.
        if (!request.readableEnded && request.headers["content-length"] !== "0" && request.method !== "GET")
          response.setHeader("connection", "close");
        sendJson(response, shown.code, shown.toStatus());
      });
    },
    get watches() {
      return watcher.count;
    },
    close: () => watcher.closeAll(),
  };
}

const methodNotAllowed = () => new ApiError("MethodNotAllowed", "the server does not allow this method on the requested resource");

const isWatch = (query: URLSearchParams) => query.get("watch") === "true" || query.get("watch") === "1";

function isDryRun(query: URLSearchParams): boolean {
  const values = query.getAll("dryRun").filter((value) => value !== "");
  if (values.some((value) => value !== "All")) throw badRequest(`Invalid value: ${JSON.stringify(values)}: dryRun must be All`);
  return values.length > 0;
}

function deletedStatus({ type, name }: NamedTarget, stored: Stored): JsonObject {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { name, ...(type.group === "" ? {} : { group: type.group }), kind: type.plural, uid: stored.object.metadata.uid },
  };
}

function sendJson(response: ServerResponse, status: number, body: JsonObject): void {
  sendText(response, status, JSON.stringify(body));
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) }).end(text);
}

const VERSION: JsonObject = {
  major: "1",
  minor: "34",
  gitVersion: "v1.34.0-flyte-ts",
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "2025-01-01T00:00:00Z",
  goVersion: "",
  compiler: "node",
  platform: `${process.platform}/${process.arch}`,
};
