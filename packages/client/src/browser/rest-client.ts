import { errorOf, RestError, UNAVAILABLE } from "./rest-error.js";
import { readFrames } from "./frame-reader.js";

/** Media type of binary streams. */
const FRAMES = "application/x-flyte-ts-frames";
/** Accept of the JSON form with lowerCamelCase names, also where the request has a body. */
const CAMEL_JSON = "application/vnd.flyte-ts+json";
/** Media type of encoded messages. */
const BYTES = "application/octet-stream";

export interface RestClientOptions {
  /** Origin of admin, without a slash at its end; default: the origin of the page. */
  readonly origin?: string;
  /** Headers of each call, such as `authorization` for a program; a page has its cookie. */
  readonly headers?: () => Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
}

export interface RestCall {
  /** Default GET. */
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  /** Parameters of the query; undefined ones are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Message in its JSON form. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Calls of admin's REST interface. */
export interface RestClient {
  /**
   * Makes a unary call; resolves to the JSON form of its answer, which the caller names as
   * `Answer`.
   *
   * @throws RestError when it fails; the signal's reason when it is aborted.
   */
  call<Answer>(path: string, call?: RestCall): Promise<Answer>;
  /**
   * Makes a unary call; resolves to its encoded answer. The browser keeps answers that do not
   * change, and asks the server whether it may use them.
   *
   * @throws RestError when it fails; the signal's reason when it is aborted.
   */
  bytes(path: string, call?: RestCall): Promise<Uint8Array>;
  /**
   * Makes a streaming call and yields the encoded messages. The stream ends where admin ends it.
   *
   * @throws RestError when it fails or is cut off; the signal's reason when it is aborted.
   */
  stream(path: string, call?: RestCall): AsyncGenerator<Uint8Array, void>;
}

export function createRestClient({ origin = "", headers = () => ({}), fetch: send = fetch }: RestClientOptions = {}): RestClient {
  const open = async (path: string, { method = "GET", query, body, signal }: RestCall, accept: string): Promise<Response> => {
    const given = { ...headers(), accept, ...(body !== undefined && { "content-type": "application/json" }) };
    const init = { method, headers: given, ...(body !== undefined && { body: JSON.stringify(body) }), ...(signal && { signal }) };
    const response = await send(`${origin}${path}${queryOf(query)}`, init).catch((cause: unknown) => {
      signal?.throwIfAborted();
      throw new RestError(UNAVAILABLE, "the server cannot be reached", 0, { cause });
    });
    if (!response.ok) throw await errorOf(response);
    return response;
  };
  return {
    async call<Answer>(path: string, call: RestCall = {}) {
      const response = await open(path, call, CAMEL_JSON);
      return (await response.json().catch((cause: unknown) => cutOff(call, response, cause))) as Answer;
    },
    async bytes(path, call = {}) {
      const response = await open(path, call, BYTES);
      return new Uint8Array(await response.arrayBuffer().catch((cause: unknown) => cutOff(call, response, cause)));
    },
    async *stream(path, call = {}) {
      const response = await open(path, call, FRAMES);
      if (response.body === null) return;
      yield* readFrames(response.body, call.signal);
    },
  };
}

function cutOff({ signal }: RestCall, { status }: Response, cause: unknown): never {
  signal?.throwIfAborted();
  throw new RestError(UNAVAILABLE, "the answer was cut off", status, { cause });
}

/** Formats a path of identifiers: `pathOf("api/v1/tasks", project, domain)`. */
export function pathOf(prefix: string, ...identifiers: readonly string[]): string {
  return `/${[prefix, ...identifiers.map((each) => encodeURIComponent(each))].join("/")}`;
}

function queryOf(query: RestCall["query"]): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) parameters.append(name, String(value));
  return parameters.size === 0 ? "" : `?${parameters.toString()}`;
}
