import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as httpRequest, type RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import type { AllowAddress } from "./allowed-address.js";
import { RetryableSendError, PermanentSendError } from "./send-errors.js";
import { createSafeLookup, forbiddenAddress, type ResolveAll } from "./ssrf-safe-lookup.js";

export interface PostOptions {
  readonly allow: AllowAddress;
  /** Allow `http:`, without encryption. */
  readonly allowHttp: boolean;
  /**
   * Maximum number of redirects; 0 for none. Only 307 and 308 are followed: the others would change
   * the request.
   */
  readonly redirects: number;
  /** Timeout until the answer's headers, ms. */
  readonly timeoutMs: number;
  readonly resolve?: ResolveAll;
}

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

// Separate agents: the environment may configure the global ones for a proxy, which would then
// choose the address.
const agents = { "http:": new HttpAgent({ keepAlive: false }), "https:": new HttpsAgent({ keepAlive: false }) } as const;
/** Number of bytes shown of an error answer. */
const SHOWN_BYTES = 200;

/**
 * Posts to an address that a user has named; resolves when the receiver has accepted it (2xx).
 *
 * @throws PermanentSendError for a forbidden address and for 410 Gone.
 * @throws RetryableSendError with the answer's status and its beginning, or the reason why there
 *   was none.
 */
export async function post({ url, headers, body }: Post, options: PostOptions): Promise<void> {
  let target = url;
  for (let left = options.redirects; ; left--) {
    const checked = checkUrl(target, options);
    const response = await send(checked, { headers, body }, options);
    if (response.status >= 200 && response.status < 300) return;
    if ((response.status === 307 || response.status === 308) && response.location !== undefined && left > 0) {
      target = URL.canParse(response.location, checked.href) ? new URL(response.location, checked).href : response.location;
      continue;
    }
    throw failureOf(checked, response);
  }
}

interface PostResponse {
  readonly status: number;
  readonly location: string | undefined;
  readonly retryAfter: string | undefined;
  readonly beginning: string;
}

/** @throws PermanentSendError */
function checkUrl(text: string, { allow, allowHttp }: PostOptions): URL {
  // The address itself may be a secret: errors omit it.
  if (!URL.canParse(text)) throw new PermanentSendError("the address is not a URL");
  const url = new URL(text);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && allowHttp)) {
    throw new PermanentSendError(`the address begins with ${url.protocol}, and only https: ${allowHttp ? "and http: are" : "is"} allowed`);
  }
  if (url.username !== "" || url.password !== "") throw new PermanentSendError("the address contains a user or a password");
  const host = hostOf(url);
  // Check IP addresses here, because sockets call no resolver for them.
  if (isIP(host) !== 0 && !allow(host)) throw forbiddenAddress(host, host);
  return url;
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1");

async function send(url: URL, { headers, body }: Omit<Post, "url">, options: PostOptions): Promise<PostResponse> {
  const bytes = Buffer.from(body);
  const requestOptions: RequestOptions = {
    method: "POST",
    agent: url.protocol === "http:" ? agents["http:"] : agents["https:"],
    lookup: createSafeLookup(options.allow, options.resolve),
    headers: { "user-agent": "flyte-ts", ...headers, "content-length": bytes.length },
  };
  return new Promise((resolve, reject) => {
    const request: ClientRequest = (url.protocol === "http:" ? httpRequest : httpsRequest)(url, requestOptions);
    const fail = (cause: unknown): void => {
      clearTimeout(timer);
      request.destroy();
      if (cause instanceof PermanentSendError || cause instanceof RetryableSendError) return reject(cause);
      reject(new RetryableSendError(`${url.host} cannot be reached: ${reasonOf(cause)}`, undefined, { cause }));
    };
    const timer = setTimeout(
      () => fail(new RetryableSendError(`${url.host} has not answered within ${options.timeoutMs / 1000} s`)),
      options.timeoutMs,
    );
    request.on("error", fail);
    request.on("response", (response: IncomingMessage) => {
      readStart(response)
        .then((beginning) => {
          clearTimeout(timer);
          request.destroy();
          const { location, "retry-after": retryAfter } = response.headers;
          resolve({ status: response.statusCode ?? 0, location, retryAfter, beginning });
        })
        .catch(fail);
    });
    request.end(bytes);
  });
}

/** Stops reading after the beginning. */
async function readStart(response: IncomingMessage): Promise<string> {
  let text = "";
  try {
    for await (const chunk of response) {
      text += (chunk as Buffer).toString("utf8");
      if (text.length >= SHOWN_BYTES) break;
    }
  } catch {
    // The status is reported all the same.
  }
  return text.slice(0, SHOWN_BYTES).replaceAll(/\s+/g, " ").trim();
}

function failureOf(url: URL, { status, location, retryAfter, beginning }: PostResponse): Error {
  if (location !== undefined && status >= 300 && status < 400)
    return new RetryableSendError(`${url.host} answered ${status}: redirects are not followed`);
  const text = `${url.host} answered ${status}${beginning === "" ? "" : `: ${beginning}`}`;
  return status === 410 ? new PermanentSendError(text) : new RetryableSendError(text, retryAfterMs(retryAfter));
}

/** Reads a `Retry-After` in seconds; the form with a date is ignored. */
function retryAfterMs(value: string | undefined): number | undefined {
  return value !== undefined && /^[0-9]{1,6}$/.test(value) ? Number(value) * 1000 : undefined;
}

function reasonOf(cause: unknown): string {
  // Each attempted address has its own reason.
  if (cause instanceof AggregateError) return cause.errors.map(reasonOf).join("; ");
  return cause instanceof Error ? cause.message : String(cause);
}
