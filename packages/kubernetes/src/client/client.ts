import type { Dispatcher } from "undici";
import { type ApiAccess, type AccessOptions, loadAccess } from "./access.js";
import type { ApplyOptions, KubeApplier } from "./applier.js";
import { isObjectMissing, KubeError } from "./errors.js";
import { createHttpAgent, type HttpAgent, sendRequest } from "./http-agent.js";
import { type KubeList, type KubeObject, PODS, type ResourceRef, resourcePath } from "./resources.js";

export interface ObjectName {
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface GetOptions extends ObjectName {
  /** Return the metadata only. */
  readonly metadataOnly?: boolean;
  /**
   * A resourceVersion from a watch: the server may answer from its cache with this version or a
   * later one. Absent: the latest.
   */
  readonly minResourceVersion?: string | undefined;
}

export interface CreateOptions {
  /** Return the metadata of the new object only. */
  readonly metadataOnly?: boolean;
}

export interface ListOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Maximum number of objects. Default: all. */
  readonly maxItems?: number;
  /** Fetch only the metadata (PartialObjectMetadata): large objects stay on the server. */
  readonly metadataOnly?: boolean | undefined;
}

export interface DeleteOptions extends ObjectName {
  readonly propagation?: "Background" | "Foreground" | "Orphan";
  readonly gracePeriodSeconds?: number;
  /** Deletes only the object with this uid, not a later one of the same name. */
  readonly uid?: string | undefined;
  /** Deletes only this version of the object. */
  readonly resourceVersion?: string | undefined;
}

export interface WatchOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly resourceVersion: string;
  readonly metadataOnly?: boolean | undefined;
  /**
   * Silence after which the stream counts as dead, ms. Default 100 s: servers send a bookmark each
   * minute.
   */
  readonly idleTimeoutMs?: number | undefined;
  readonly signal: AbortSignal;
}

export interface WatchEvent<T> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: T;
}

export interface PodLogOptions extends ObjectName {
  readonly namespace: string;
  readonly container: string;
  /** Wait for further lines until the container has ended. */
  readonly follow: boolean;
  /** Only lines written from this second on. */
  readonly since?: Date | undefined;
  /** Only the last lines, this many. */
  readonly tailLines?: number | undefined;
  readonly signal: AbortSignal;
}

export interface PatchOptions extends ObjectName {
  readonly body: object;
  /** Return the metadata of the new object only. */
  readonly metadataOnly?: boolean;
  /** Changes the status only. */
  readonly subresource?: "status";
}

/** The verbs of the Kubernetes API. Every method rejects with KubeError. */
export interface KubeClient {
  /**
   * Resolves to undefined when the object does not exist. Any other 404, such as that of a proxy or
   * of a server without the type, is an error.
   */
  get<T extends KubeObject>(ref: ResourceRef, options: GetOptions): Promise<T | undefined>;
  list<T extends KubeObject>(ref: ResourceRef, options?: ListOptions): Promise<KubeList<T>>;
  create<T extends KubeObject>(ref: ResourceRef, object: KubeObject, options?: CreateOptions): Promise<T>;
  /** Replaces the object if its resourceVersion is still the stored one. */
  replace<T extends KubeObject>(ref: ResourceRef, object: KubeObject): Promise<T>;
  /** JSON merge patch (RFC 7386); a `metadata.resourceVersion` in the body makes it conditional. */
  mergePatch<T extends KubeObject>(ref: ResourceRef, patch: PatchOptions): Promise<T>;
  /** Resolves to false when the object does not exist, as `get` does to undefined. */
  delete(ref: ResourceRef, options: DeleteOptions): Promise<boolean>;
  /** Streams events after the resourceVersion, until the server or the signal ends the stream. */
  watch<T extends KubeObject>(ref: ResourceRef, options: WatchOptions): AsyncGenerator<WatchEvent<T>>;
  /**
   * Streams a container's log, each line after its time (RFC 3339 and a space). Chunks end
   * anywhere.
   */
  podLog(options: PodLogOptions): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

export interface KubeClientOptions extends AccessOptions {
  /** Maximum number of connections for requests; watches have their own. Default 32. */
  readonly maxConnections?: number;
  /** Timeout of one request, ms. Default 30 s. */
  readonly timeoutMs?: number;
  /** Client name in the server's audit log and metrics. Default: `flyte-ts`. */
  readonly userAgent?: string;
}

export async function createKubeClient(options: KubeClientOptions): Promise<KubeClient & KubeApplier> {
  return new HttpKubeClient(await loadAccess(options), options);
}

interface Request {
  readonly method: Dispatcher.HttpMethod;
  readonly path: string;
  readonly body?: object;
  readonly contentType?: string;
  readonly accept?: string;
  readonly bodyTimeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** A kind in a discovery answer. */
interface DiscoveredResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

const JSON_TYPE = "application/json";
/** Default timeout of a request, ms. */
export const REQUEST_TIMEOUT_MS = 30_000;
/**
 * Skips field validation: otherwise the server decodes each object twice, to warn of unknown
 * fields. No caller reads warnings, and invalid objects are rejected all the same.
 */
const SKIP_FIELD_VALIDATION = "?fieldValidation=Ignore";
// The second type is for servers that cannot reduce objects to their metadata.
const METADATA_TYPE = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
const METADATA_LIST_TYPE = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
/** Page size of lists; the pages are joined. */
const PAGE_SIZE = 500;
const WATCH_TIMEOUT_SECONDS = 240;
/** Exceeds the minute between two bookmarks, to detect a connection that died silently. */
const WATCH_IDLE_TIMEOUT_MS = 100_000;

class HttpKubeClient implements KubeClient, KubeApplier {
  readonly #access: ApiAccess;
  readonly #server: URL;
  /** Base path: a proxy may serve a cluster below one. */
  readonly #base: string;
  readonly #userAgent: string;
  readonly #timeoutMs: number;
  readonly #requests: HttpAgent;
  readonly #watches: HttpAgent;

  constructor(access: ApiAccess, { maxConnections = 32, timeoutMs = REQUEST_TIMEOUT_MS, userAgent = "flyte-ts" }: KubeClientOptions) {
    this.#access = access;
    this.#userAgent = userAgent;
    this.#timeoutMs = timeoutMs;
    this.#server = new URL(access.server);
    this.#base = this.#server.pathname.replace(/\/+$/, "");
    const connect = { ...access.tls, timeout: 10_000 };
    this.#requests = createHttpAgent({
      connections: maxConnections,
      connect,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      keepAliveTimeout: 30_000,
    });
    this.#watches = createHttpAgent({ connect, headersTimeout: timeoutMs, bodyTimeout: WATCH_IDLE_TIMEOUT_MS });
  }

  async get<T extends KubeObject>(
    ref: ResourceRef,
    { namespace, name, metadataOnly, minResourceVersion }: GetOptions,
  ): Promise<T | undefined> {
    const query = minResourceVersion === undefined ? "" : `?resourceVersion=${encodeURIComponent(minResourceVersion)}`;
    try {
      return await this.#call<T>("GET", resourcePath(ref, namespace, name) + query, { accept: metadataOnly ? METADATA_TYPE : JSON_TYPE });
    } catch (error) {
      if (isObjectMissing(error, name)) return undefined;
      throw error;
    }
  }

  async list<T extends KubeObject>(ref: ResourceRef, options: ListOptions = {}): Promise<KubeList<T>> {
    const { namespace, labelSelector, fieldSelector, maxItems, metadataOnly } = options;
    const accept = metadataOnly ? METADATA_LIST_TYPE : JSON_TYPE;
    const items: T[] = [];
    let page: KubeList<T> | undefined;
    do {
      const query = new URLSearchParams({ limit: String(maxItems ?? PAGE_SIZE) });
      if (labelSelector) query.set("labelSelector", labelSelector);
      if (fieldSelector) query.set("fieldSelector", fieldSelector);
      if (page?.metadata.continue) query.set("continue", page.metadata.continue);
      page = await this.#call<KubeList<T>>("GET", `${resourcePath(ref, namespace)}?${query}`, { accept });
      // Metadata lists of no objects have `items: null`.
      for (const item of page.items ?? []) items.push(item);
    } while (page.metadata.continue && maxItems === undefined);
    return { metadata: { resourceVersion: page.metadata.resourceVersion }, items };
  }

  create<T extends KubeObject>(ref: ResourceRef, object: KubeObject, { metadataOnly }: CreateOptions = {}): Promise<T> {
    // The server stops when this client has stopped waiting: the object does not appear later.
    const query = `${SKIP_FIELD_VALIDATION}&timeout=${this.#timeoutMs}ms`;
    return this.#call<T>("POST", resourcePath(ref, object.metadata.namespace) + query, {
      body: object,
      accept: metadataOnly ? METADATA_TYPE : JSON_TYPE,
    });
  }

  replace<T extends KubeObject>(ref: ResourceRef, object: KubeObject): Promise<T> {
    return this.#call<T>("PUT", resourcePath(ref, object.metadata.namespace, object.metadata.name) + SKIP_FIELD_VALIDATION, {
      body: object,
    });
  }

  mergePatch<T extends KubeObject>(ref: ResourceRef, options: PatchOptions): Promise<T> {
    const { namespace, name, body, metadataOnly, subresource } = options;
    const accept = metadataOnly ? METADATA_TYPE : JSON_TYPE;
    const path = resourcePath(ref, namespace, name) + (subresource === undefined ? "" : `/${subresource}`);
    return this.#call<T>("PATCH", path + SKIP_FIELD_VALIDATION, { body, contentType: "application/merge-patch+json", accept });
  }

  apply<T extends KubeObject>(ref: ResourceRef, { namespace, name, body, fieldManager }: ApplyOptions): Promise<T> {
    const query = new URLSearchParams({ fieldManager, force: "true" });
    // JSON is valid YAML.
    return this.#call<T>("PATCH", `${resourcePath(ref, namespace, name)}?${query}`, { body, contentType: "application/apply-patch+yaml" });
  }

  async findResource(apiVersion: string, kind: string): Promise<ResourceRef | undefined> {
    const [group, version] = apiVersion.includes("/") ? (apiVersion.split("/") as [string, string]) : ["", apiVersion];
    const path = group === "" ? `/api/${encodeURIComponent(version)}` : `/apis/${encodeURIComponent(group)}/${encodeURIComponent(version)}`;
    try {
      const { resources } = await this.#call<{ resources?: readonly DiscoveredResource[] }>("GET", path);
      const match = resources?.find((resource) => resource.kind === kind && !resource.name.includes("/"));
      return match && { group, version, plural: match.name, namespaced: match.namespaced };
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return undefined;
      throw error;
    }
  }

  async delete(
    ref: ResourceRef,
    { namespace, name, propagation = "Background", gracePeriodSeconds, uid, resourceVersion }: DeleteOptions,
  ): Promise<boolean> {
    const body = {
      kind: "DeleteOptions",
      apiVersion: "v1",
      propagationPolicy: propagation,
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      ...(uid === undefined && resourceVersion === undefined ? {} : { preconditions: { uid, resourceVersion } }),
    };
    try {
      await this.#call("DELETE", resourcePath(ref, namespace, name), { body });
      return true;
    } catch (error) {
      if (isObjectMissing(error, name)) return false;
      throw error;
    }
  }

  async *watch<T extends KubeObject>(ref: ResourceRef, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const {
      namespace,
      labelSelector,
      fieldSelector,
      resourceVersion,
      signal,
      metadataOnly,
      idleTimeoutMs: bodyTimeoutMs = WATCH_IDLE_TIMEOUT_MS,
    } = options;
    const accept = metadataOnly ? METADATA_TYPE : JSON_TYPE;
    const query = new URLSearchParams({
      watch: "1",
      allowWatchBookmarks: "true",
      timeoutSeconds: String(WATCH_TIMEOUT_SECONDS),
      resourceVersion,
    });
    if (labelSelector) query.set("labelSelector", labelSelector);
    if (fieldSelector) query.set("fieldSelector", fieldSelector);
    const path = `${resourcePath(ref, namespace)}?${query}`;
    const response = await this.#send(this.#watches, { method: "GET", path, accept, bodyTimeoutMs, signal });
    const decoder = new TextDecoder();
    // Collects the chunks of an unfinished line, so that a long line is joined once.
    let chunks: string[] = [];
    for await (const chunk of readBody(`watch ${path}`, response)) {
      const lines = decoder.decode(chunk, { stream: true }).split("\n");
      for (const [index, line] of lines.entries()) {
        chunks.push(line);
        if (index === lines.length - 1) break;
        const text = chunks.join("");
        chunks = [];
        if (text.trim() !== "") yield JSON.parse(text) as WatchEvent<T>;
      }
    }
  }

  async *podLog(options: PodLogOptions): AsyncGenerator<Uint8Array> {
    const { namespace, name, container, follow, since, tailLines, signal } = options;
    const query = new URLSearchParams({ container, follow: String(follow), timestamps: "true" });
    if (since !== undefined) query.set("sinceTime", since.toISOString().replace(/\.\d+Z$/, "Z"));
    if (tailLines !== undefined) query.set("tailLines", String(tailLines));
    const path = `${resourcePath(PODS, namespace, name)}/log?${query}`;
    // A container may be silent for any time: no timeout.
    const response = await this.#send(this.#watches, { method: "GET", path, accept: "*/*", bodyTimeoutMs: 0, signal });
    yield* readBody(`GET ${path}`, response);
  }

  async close(): Promise<void> {
    await Promise.all([this.#requests.destroy(), this.#watches.destroy()]);
  }

  async #call<T>(method: Dispatcher.HttpMethod, path: string, request: Omit<Request, "method" | "path"> = {}): Promise<T> {
    const response = await this.#send(this.#requests, { method, path, ...request });
    try {
      return (await response.body.json()) as T;
    } catch (cause) {
      throw connectionError(`${method} ${path}`, cause);
    }
  }

  async #send(
    agent: HttpAgent,
    { method, path, body, contentType = JSON_TYPE, accept = JSON_TYPE, bodyTimeoutMs, signal }: Request,
  ): Promise<Dispatcher.ResponseData> {
    const authorization = await this.#access.authorization();
    const headers: Record<string, string> = { accept, "user-agent": this.#userAgent };
    if (authorization !== undefined) headers.authorization = authorization;
    if (body !== undefined) headers["content-type"] = contentType;
    let response: Dispatcher.ResponseData;
    try {
      response = await sendRequest(agent, {
        origin: this.#server.origin,
        path: this.#base + path,
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
        // By default the connection of a DELETE with a body is closed, for servers that do not
        // read the body.
        reset: false,
        ...(bodyTimeoutMs === undefined ? {} : { bodyTimeout: bodyTimeoutMs }),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (cause) {
      throw connectionError(`${method} ${path}`, cause);
    }
    if (response.statusCode < 300) return response;
    throw await errorFromResponse(`${method} ${path}`, response);
  }
}

/** The connection failed, or broke before the answer was complete. */
function connectionError(operation: string, cause: unknown): KubeError {
  return new KubeError(`${operation}: ${cause instanceof Error ? cause.message : String(cause)}`, { status: 0, cause });
}

async function* readBody(operation: string, { body }: Dispatcher.ResponseData): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk as Uint8Array;
  } catch (cause) {
    throw connectionError(operation, cause);
  }
}

async function errorFromResponse(operation: string, response: Dispatcher.ResponseData): Promise<KubeError> {
  const text = await response.body.text().catch(() => "");
  let status: { message?: string; reason?: string; details?: { name?: string; retryAfterSeconds?: number } } = {};
  try {
    status = JSON.parse(text) as typeof status;
  } catch {
    status = { message: text.slice(0, 500) };
  }
  const header = Number(response.headers["retry-after"]);
  const seconds = status.details?.retryAfterSeconds ?? (Number.isFinite(header) && header > 0 ? header : undefined);
  return new KubeError(status.message || `${operation}: HTTP ${response.statusCode}`, {
    status: response.statusCode,
    reason: status.reason ?? "",
    objectName: status.details?.name,
    retryAfterMs: seconds === undefined ? undefined : seconds * 1_000,
  });
}
