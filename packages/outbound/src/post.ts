import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as httpRequest, type RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import type { AllowAddress } from "./allowed-address.js";
import { SendLater, SendRefused } from "./failure.js";
import { guardedLookup, refusedAddress, type ResolveAll } from "./guarded-lookup.js";

export interface PostOptions {
  readonly allow: AllowAddress;
  /** Allow `http:`, without encryption. */
  readonly allowHttp: boolean;
  /** Maximum number of redirects; 0 for none. Only 307 and 308 are followed: the others would change the request. */
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

// Separate agents: the environment may configure the global ones for a proxy, which would then choose the address.
const agents = { "http:": new HttpAgent({ keepAlive: false }), "https:": new HttpsAgent({ keepAlive: false }) } as const;
/** Number of bytes shown of an error answer. */
const SHOWN_BYTES = 200;

/**
 * Posts to an address that a user has named; resolves when the receiver has accepted it (2xx).
 *
 * @throws SendRefused for a forbidden address and for 410 Gone.
 * @throws SendLater with the answer's status and its beginning, or the reason why there was none.
 */
export async function post({ url, headers, body }: Post, options: PostOptions): Promise<void> {
  let target = url;
  for (let left = options.redirects; ; left--) {
    const checked = checkUrl(target, options);
    const answer = await send(checked, { headers, body }, options);
    if (answer.status >= 200 && answer.status < 300) return;
    if ((answer.status === 307 || answer.status === 308) && answer.location !== undefined && left > 0) {
      target = URL.canParse(answer.location, checked.href) ? new URL(answer.location, checked).href : answer.location;
      continue;
    }
    throw failureOf(checked, answer);
  }
}

interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  readonly retryAfter: string | undefined;
  readonly beginning: string;
}

/** @throws SendRefused */
function checkUrl(text: string, { allow, allowHttp }: PostOptions): URL {
  // The address itself may be a secret: errors omit it.
  if (!URL.canParse(text)) throw new SendRefused("the address is not a URL");
  const url = new URL(text);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && allowHttp)) {
    throw new SendRefused(`the address begins with ${url.protocol}, and only https: ${allowHttp ? "and http: are" : "is"} allowed`);
  }
  if (url.username !== "" || url.password !== "") throw new SendRefused("the address holds a user or a password");
  const host = hostOf(url);
  // Sockets call no resolver for IP addresses.
  if (isIP(host) !== 0 && !allow(host)) throw refusedAddress(host, host);
  return url;
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1");

async function send(url: URL, { headers, body }: Omit<Post, "url">, options: PostOptions): Promise<Answer> {
  const bytes = Buffer.from(body);
  const request: RequestOptions = {
    method: "POST",
    agent: url.protocol === "http:" ? agents["http:"] : agents["https:"],
    lookup: guardedLookup(options.allow, options.resolve),
    headers: { "user-agent": "flyte-ts", ...headers, "content-length": bytes.length },
  };
  return new Promise((resolve, reject) => {
    const asked: ClientRequest = (url.protocol === "http:" ? httpRequest : httpsRequest)(url, request);
    const fail = (cause: unknown): void => {
      clearTimeout(timer);
      asked.destroy();
      if (cause instanceof SendRefused || cause instanceof SendLater) return reject(cause);
      reject(new SendLater(`${url.host} cannot be reached: ${reasonOf(cause)}`, undefined, { cause }));
    };
    const timer = setTimeout(
      () => fail(new SendLater(`${url.host} has not answered within ${options.timeoutMs / 1000} s`)),
      options.timeoutMs,
    );
    asked.on("error", fail);
    asked.on("response", (response: IncomingMessage) => {
      readBeginning(response)
        .then((beginning) => {
          clearTimeout(timer);
          asked.destroy();
          const { location, "retry-after": retryAfter } = response.headers;
          resolve({ status: response.statusCode ?? 0, location, retryAfter, beginning });
        })
        .catch(fail);
    });
    asked.end(bytes);
  });
}

/** Stops reading after the beginning. */
async function readBeginning(response: IncomingMessage): Promise<string> {
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

function failureOf(url: URL, { status, location, retryAfter, beginning }: Answer): Error {
  if (location !== undefined && status >= 300 && status < 400)
    return new SendLater(`${url.host} answered ${status}: redirects are not followed`);
  const text = `${url.host} answered ${status}${beginning === "" ? "" : `: ${beginning}`}`;
  return status === 410 ? new SendRefused(text) : new SendLater(text, retryAfterMs(retryAfter));
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
