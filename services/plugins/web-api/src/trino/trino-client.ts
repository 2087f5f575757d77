import { z } from "zod";
import { ApiError, causeOfStatus, retryAfterMs } from "../frame/call/api-error.js";
import type { Endpoint } from "../frame/call/endpoint.js";

export interface TrinoAccess {
  readonly endpoint: string;
  readonly user: string;
  /** Password of the user, for basic authentication. */
  readonly password?: string | undefined;
  /** JSON web token, instead of a password. */
  readonly accessToken?: string | undefined;
}

/** The session in which a statement runs. */
export interface TrinoSession {
  readonly catalog: string;
  readonly schema: string;
  /** Names the attempt in Trino's list of queries. */
  readonly source: string;
}

const trinoAnswer = z.object({
  id: z.string(),
  infoUri: z.string().optional(),
  nextUri: z.string().optional(),
  data: z.unknown().optional(),
  stats: z.object({ state: z.string(), progressPercentage: z.number().optional() }).optional(),
  error: z
    .object({ message: z.string(), errorCode: z.number().optional(), errorName: z.string().optional(), errorType: z.string().optional() })
    .optional(),
});

/** Answer of Trino's statement protocol. */
export type TrinoAnswer = z.infer<typeof trinoAnswer>;

/** Queries of the coordinator. */
const QUERIES = "/v1/query";
const listedQuery = z.object({ queryId: z.string(), session: z.object({ source: z.string().nullish() }).optional() });

interface Call {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly body?: string;
  readonly session?: TrinoSession;
}

/**
 * The calls of Trino's statement protocol, each through the endpoint. Only the paths of addresses
 * in answers are used: Trino may name a host that only its own network resolves.
 *
 * @throws ApiError
 */
export class TrinoClient {
  constructor(
    private readonly access: TrinoAccess,
    private readonly endpoint: Endpoint,
    private readonly send: typeof fetch = fetch,
  ) {}

  /** Submits a statement, which does not run before the first `follow`. */
  submit(statement: string, session: TrinoSession): Promise<TrinoAnswer> {
    return this.endpoint.write("submit", (signal) =>
      this.#answer({ method: "POST", path: "/v1/statement", body: statement, session }, signal),
    );
  }

  /** Reads the answer at the path of `nextUri`. */
  follow(path: string): Promise<TrinoAnswer> {
    return this.endpoint.read("follow", (signal) => this.#answer({ method: "GET", path }, signal));
  }

  /** Cancels the query at the path of `nextUri`. */
  async cancel(path: string): Promise<void> {
    await this.endpoint.write("cancel", (signal) => this.#send({ method: "DELETE", path }, signal));
  }

  /** State of a query by its id, as Trino names it. */
  async state(queryId: string): Promise<string> {
    const path = `${QUERIES}/${encodeURIComponent(queryId)}`;
    const response = await this.endpoint.read("query", (signal) => this.#send({ method: "GET", path }, signal));
    return z.object({ state: z.string() }).parse(await response.json()).state;
  }

  /** Id of a query of this source, of those that Trino remembers and the user may see. */
  async findBySource(source: string): Promise<string | undefined> {
    const response = await this.endpoint.read("queries", (signal) => this.#send({ method: "GET", path: QUERIES }, signal));
    const queries = z.array(listedQuery).parse(await response.json());
    return queries.find(({ session }) => session?.source === source)?.queryId;
  }

  /** Ends a query by its id. */
  async kill(queryId: string): Promise<void> {
    await this.endpoint.write("kill", (signal) =>
      this.#send({ method: "DELETE", path: `${QUERIES}/${encodeURIComponent(queryId)}` }, signal),
    );
  }

  async #answer(call: Call, signal: AbortSignal): Promise<TrinoAnswer> {
    const response = await this.#send(call, signal);
    const parsed = trinoAnswer.safeParse(await response.json().catch(() => undefined));
    if (parsed.success) return parsed.data;
    throw new ApiError("unavailable", { code: "BadAnswer", message: "the answer is not one of Trino's statement protocol" });
  }

  async #send({ method, path, body, session }: Call, signal: AbortSignal): Promise<Response> {
    const response = await this.send(new URL(path, this.access.endpoint), {
      method,
      signal,
      redirect: "error",
      headers: { ...this.#authorization(), ...(session && sessionHeaders(session)) },
      ...(body !== undefined && { body }),
    }).catch((error: unknown) => {
      throw new ApiError("unavailable", { code: "ConnectionFailed", message: connectionText(error), cause: error });
    });
    if (response.ok) return response;
    const text = (await response.text().catch(() => "")).slice(0, 500);
    throw new ApiError(causeOfStatus(response.status), {
      code: `http${response.status}`,
      message: `Trino answered with status ${response.status}${text === "" ? "" : `: ${text}`}`,
      retryAfterMs: retryAfterMs(response.headers.get("retry-after")),
    });
  }

  #authorization(): Record<string, string> {
    const { user, password, accessToken } = this.access;
    const credentials = accessToken
      ? `Bearer ${accessToken}`
      : password && `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
    return { "X-Trino-User": user, ...(credentials && { Authorization: credentials }) };
  }
}

/** Path and query of an address in an answer. */
export function pathOf(uri: string): string {
  const { pathname, search } = new URL(uri);
  return `${pathname}${search}`;
}

function sessionHeaders({ catalog, schema, source }: TrinoSession): Record<string, string> {
  return { "X-Trino-Catalog": catalog, "X-Trino-Schema": schema, "X-Trino-Source": source };
}

function connectionText(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message || String((cause as { code?: string }).code)}` : message;
}
