import { BoundedMap } from "@flyte-ts/async";
import { parseHostName, isAllowedHost, type ServedHosts } from "./host.js";
import { isSameOrigin } from "./origin.js";

export interface HttpPolicyOptions extends ServedHosts {
  /**
   * Origins of other web pages that may call, such as `https://console.example.com`. There is no
   * wildcard.
   */
  readonly allowedOrigins?: readonly string[];
  /**
   * Lets pages of the same site (any port of the same host) embed the answers of a GET, in a frame
   * or as an image; their scripts cannot read them. For listeners whose addresses are secrets
   * themselves, such as signed URLs of a blob store.
   */
  readonly embedding?: "same-site";
}

/** The head of a request as in node:http. A gRPC call gives its authority as `host`. */
export interface RequestHead {
  readonly method?: string | undefined;
  readonly headers: RequestHeaders;
}

export interface RequestHeaders {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  readonly "sec-fetch-site"?: string | string[] | undefined;
  readonly "sec-fetch-mode"?: string | string[] | undefined;
  readonly "sec-fetch-dest"?: string | string[] | undefined;
  readonly "content-type"?: string | undefined;
  readonly "content-length"?: string | undefined;
  readonly "transfer-encoding"?: string | undefined;
  readonly authorization?: string | undefined;
}

/** Reason for refusing a request. */
export interface Rejection {
  /** 403: host or origin. 415: the type of the body. */
  readonly status: 403 | 415;
  readonly reason: string;
}

/**
 * Decides which HTTP requests a listener serves, so that a web page cannot call it unless its
 * origin may.
 */
export interface HttpPolicy {
  /**
   * Checks the host and the headers by which a browser identifies the page. Undefined: the request
   * is served.
   */
  checkRequest(request: RequestHead): Rejection | undefined;
  /**
   * Checks the type of a body. Browsers send some types for pages of any origin without a preflight
   * (Fetch standard, CORS-safelisted request-header); such a body is accepted only with the origin
   * of a page that may call.
   */
  checkBody(request: RequestHead): Rejection | undefined;
  /** True when scripts of this origin may read answers, by CORS. */
  allowsOrigin(origin: string): boolean;
}

const SAFE_METHODS = ["GET", "HEAD"];
const SAFELISTED_TYPE = /^\s*(?:text\/plain|multipart\/form-data|application\/x-www-form-urlencoded)\s*(?:;|,|$)/i;
/** Clients use few hosts; an attacker may send many. */
const MAX_CACHED_HOSTS = 256;

export function createHttpPolicy(options: HttpPolicyOptions): HttpPolicy {
  const origins = new Set(options.allowedOrigins);
  const servedHosts = new BoundedMap<string, boolean>(MAX_CACHED_HOSTS);
  const servesHost = (header: string): boolean => {
    const cached = servedHosts.get(header);
    if (cached !== undefined) return cached;
    const host = parseHostName(header);
    const served = host !== undefined && isAllowedHost(host, options);
    servedHosts.set(header, served);
    return served;
  };
  const mayEmbed = ({ method, headers }: RequestHead): boolean =>
    options.embedding === headers["sec-fetch-site"] && SAFE_METHODS.includes(method ?? "");

  return {
    checkRequest(request) {
      const { host, origin, "sec-fetch-site": site } = request.headers;
      // HTTP/1.0 has no Host; every browser sends one.
      if (host !== undefined && !servesHost(host))
        return forbidden(`host ${quoted(host)} is not served here: use a name of this service, or add it to allowedHosts`);
      if (origin !== undefined) return checkOrigin(origin, { host, site, origins });
      if (site === undefined || site === "none" || site === "same-origin") return undefined;
      if (isNavigation(request) || mayEmbed(request)) return undefined;
      return forbidden("web pages of other origins may not call this service");
    },
    checkBody({ method, headers }) {
      if (SAFE_METHODS.includes(method ?? "") || !hasBody(headers)) return undefined;
      const type = headers["content-type"];
      if (type !== undefined && type.trim() !== "" && !SAFELISTED_TYPE.test(type)) return undefined;
      // Browsers send a preflight before an Authorization header, and `checkRequest` has checked
      // the origin.
      if (headers.authorization !== undefined || headers.origin !== undefined) return undefined;
      return { status: 415, reason: `Content-Type ${type === undefined ? "is missing" : quoted(type)}: send application/json` };
    },
    allowsOrigin: (origin) => origins.has(origin),
  };
}

interface OriginRequest {
  readonly host: string | undefined;
  readonly site: string | string[] | undefined;
  readonly origins: ReadonlySet<string>;
}

function checkOrigin(origin: string, { host, site, origins }: OriginRequest): Rejection | undefined {
  if (origins.has(origin)) return undefined;
  // Browsers hide the origin of a page without referrer; Sec-Fetch-Site still shows that it is the
  // same.
  if (origin === "null" && site === "same-origin") return undefined;
  const isSameSiteClaim = site === undefined || site === "same-origin" || site === "none";
  if (isSameSiteClaim && host !== undefined && isSameOrigin(origin, host)) return undefined;
  return forbidden(`origin ${quoted(origin)} may not call this service: add it to allowedOrigins if it is yours`);
}

/**
 * A link that a person opens: the answer becomes a page of its own, which the linking page cannot
 * read.
 */
function isNavigation({ method, headers }: RequestHead): boolean {
  const dest = headers["sec-fetch-dest"];
  return SAFE_METHODS.includes(method ?? "") && headers["sec-fetch-mode"] === "navigate" && (dest === undefined || dest === "document");
}

function hasBody(headers: RequestHeaders): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

const forbidden = (reason: string): Rejection => ({ status: 403, reason });

const quoted = (text: string): string => JSON.stringify(text.slice(0, 100));
