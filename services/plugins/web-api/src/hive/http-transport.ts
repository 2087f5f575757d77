import { ApiError, causeOfStatus, retryAfterMs } from "../frame/call/api-error.js";

export interface HiveAccess {
  /** Address of HiveServer2's HTTP transport, with its path. */
  readonly endpoint: string;
  readonly user: string;
  /** Password of the user, for basic authentication. */
  readonly password?: string | undefined;
  /** JSON web token, instead of a password. */
  readonly accessToken?: string | undefined;
}

/** Maximum size of an answer, bytes; a state with its error texts has some kilobytes. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Errors of connections over which nothing was sent. */
const NOT_CONNECTED = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);
/** Statuses with which a server or a proxy refuses a request before it has an effect. */
const REFUSED = new Set([401, 403, 429, 503]);
/** Code of errors before which nothing was sent. */
const NOT_SENT = "ConnectionRefused";

/** True when a call that failed with this error has had no effect. */
export function hadNoEffect({ code }: ApiError): boolean {
  return code === NOT_SENT || code === "CircuitOpen" || [...REFUSED].some((status) => code === `http${status}`);
}

/** Sends one message of Thrift over HTTP and returns the answer. @throws ApiError */
export async function postThrift(
  access: HiveAccess,
  { body, signal }: { readonly body: Uint8Array; readonly signal: AbortSignal },
  send: typeof fetch,
): Promise<Buffer> {
  try {
    const response = await send(access.endpoint, { method: "POST", redirect: "error", signal, body, headers: headersOf(access) });
    if (!response.ok) throw await statusError(response);
    return await readAnswer(response);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    const { message, cause } = error as Error & { readonly cause?: Error & { readonly code?: string } };
    const code = NOT_CONNECTED.has(cause?.code ?? "") ? NOT_SENT : "ConnectionFailed";
    throw new ApiError("unavailable", { code, message: cause ? `${message}: ${cause.message || cause.code}` : message, cause: error });
  }
}

function headersOf({ user, password, accessToken }: HiveAccess): Record<string, string> {
  // HiveServer2 without authentication takes the user's name from here, with any password.
  const basic = Buffer.from(`${user}:${password ?? "anonymous"}`).toString("base64");
  return {
    "Content-Type": "application/x-thrift",
    Accept: "application/x-thrift",
    Authorization: accessToken === undefined ? `Basic ${basic}` : `Bearer ${accessToken}`,
    // Servers with `hive.server2.xsrf.filter.enabled` demand it.
    "X-XSRF-HEADER": "true",
  };
}

async function statusError(response: Response): Promise<ApiError> {
  const text = (await response.text().catch(() => "")).slice(0, 500);
  return new ApiError(causeOfStatus(response.status) === "missing" ? "unavailable" : causeOfStatus(response.status), {
    code: `http${response.status}`,
    message: `HiveServer2 answered with status ${response.status}${text === "" ? "" : `: ${text}`}`,
    retryAfterMs: retryAfterMs(response.headers.get("retry-after")),
  });
}

async function readAnswer(response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES)
      throw new ApiError("unavailable", { code: "AnswerTooLarge", message: `the answer exceeds ${MAX_ANSWER_BYTES} bytes` });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
