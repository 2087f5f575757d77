import { openAttacker, type RawResponse } from "../attacker.fixture.js";

// Requests that a browser sends for pages of other origins and for host names rebound to this
// machine.

const FOREIGN_ORIGIN = "https://evil.example";

export interface Sender {
  /**
   * Headers for a listener on this port; undefined where a browser would not send such a request.
   */
  headers(port: number, method: string): Record<string, string> | undefined;
}

const reads = (method: string) => method === "GET" || method === "HEAD";
const always = (headers: (port: number) => Record<string, string>): Sender => ({ headers });
const onReads = (headers: (port: number) => Record<string, string>): Sender => ({
  headers: (port, method) => (reads(method) ? headers(port) : undefined),
});
const onWrites = (headers: (port: number) => Record<string, string>): Sender => ({
  headers: (port, method) => (reads(method) ? undefined : headers(port)),
});
const own = (port: number) => ({ host: `localhost:${port}` });
const json = { "content-type": "application/json" };
const plain = { "content-type": "text/plain" };

const rebound = (host: string): Sender =>
  always((port) => ({ host: `${host}:${port}`, origin: `http://${host}:${port}`, "sec-fetch-site": "same-origin", ...json }));

export const SENDERS: Readonly<Record<string, Sender>> = {
  "a simple request of another site": always((port) => ({
    ...own(port),
    origin: FOREIGN_ORIGIN,
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "no-cors",
    ...plain,
  })),
  "a JSON request of another site": always((port) => ({
    ...own(port),
    origin: FOREIGN_ORIGIN,
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "cors",
    ...json,
  })),
  "a form of another site, from a browser without fetch metadata": always((port) => ({
    ...own(port),
    origin: FOREIGN_ORIGIN,
    "content-type": "application/x-www-form-urlencoded",
  })),
  "a multipart form of another site": always((port) => ({
    ...own(port),
    origin: FOREIGN_ORIGIN,
    "content-type": "multipart/form-data; boundary=x",
  })),
  "a page with a null origin": always((port) => ({ ...own(port), origin: "null", "sec-fetch-site": "cross-site", ...plain })),
  "a sandboxed page without fetch metadata": always((port) => ({ ...own(port), origin: "null", ...json })),
  "a page on another port of this machine": always((port) => ({
    ...own(port),
    origin: `http://localhost:${port === 65_535 ? 1 : port + 1}`,
    "sec-fetch-site": "same-site",
    "sec-fetch-mode": "cors",
    ...json,
  })),
  "an origin that begins with ours": always((port) => ({ ...own(port), origin: `http://localhost:${port}.evil.example`, ...json })),
  "an origin that ends with ours": always((port) => ({ ...own(port), origin: `http://evil.example#localhost:${port}`, ...json })),
  "an origin of another scheme": always((port) => ({ ...own(port), origin: "chrome-extension://localhost", ...json })),
  "metadata that claims another origin": always((port) => ({
    ...own(port),
    origin: FOREIGN_ORIGIN,
    "sec-fetch-site": "cross-site",
    "grpc-metadata-origin": `http://localhost:${port}`,
    "grpc-metadata-sec-fetch-site": "same-origin",
    "grpc-metadata-host": `localhost:${port}`,
    ...json,
  })),
  "a script or image of another site": onReads((port) => ({
    ...own(port),
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "no-cors",
    "sec-fetch-dest": "script",
  })),
  "a frame of another site": onReads((port) => ({
    ...own(port),
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "iframe",
  })),
  "a body that browsers send without a preflight, without an origin": onWrites((port) => ({ ...own(port), ...plain })),
  "a form posted as a navigation": onWrites((port) => ({
    ...own(port),
    origin: FOREIGN_ORIGIN,
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
    "content-type": "application/x-www-form-urlencoded",
  })),
  "a rebound name": rebound("evil.example"),
  "a rebound name that begins with localhost": rebound("localhost.evil.example"),
  "a rebound name that begins with an address": rebound("127.0.0.1.evil.example"),
  "a rebound name in capitals with a dot at its end": rebound("EVIL.EXAMPLE."),
  "a rebound name without an origin": always((port) => ({ host: `evil.example:${port}`, ...json })),
  "a rebound name behind a claimed proxy": always((port) => ({
    host: `evil.example:${port}`,
    "x-forwarded-host": `localhost:${port}`,
    "x-forwarded-for": "127.0.0.1",
    forwarded: `host=localhost:${port}`,
    ...json,
  })),
  "a host with credentials": always((port) => ({ host: `localhost:${port}@evil.example`, ...json })),
  "an empty host": always(() => ({ host: "", origin: FOREIGN_ORIGIN, ...json })),
};

/**
 * Requests with an IP address as host. Only listeners on loopback refuse them: other addresses may
 * be the machine's own, and DNS cannot rebind an IP address.
 */
export const FOREIGN_ADDRESSES: Readonly<Record<string, Sender>> = {
  "an address of another network": rebound("169.254.169.254"),
  "the unspecified address": rebound("0.0.0.0"),
};

export const REQUESTS: readonly (readonly [string, string])[] = [
  ["GET", "/"],
  ["GET", "/api/v1/projects"],
  ["GET", "/metrics"],
  ["GET", "/api/v1/namespaces"],
  ["GET", "/my-s3-bucket?list-type=2"],
  ["GET", "/varz"],
  ["POST", "/api/v1/tasks"],
  ["POST", "/api/v1/executions"],
  ["POST", "/flyteidl.service.AdminService/CreateTask"],
  ["POST", "/api/v1/namespaces/flytesnacks-development/pods"],
  ["PUT", "/my-s3-bucket/replaced"],
  ["PUT", "/api/v1/projects/flytesnacks"],
  ["DELETE", "/api/v1/namespaces/flytesnacks-development"],
  ["OPTIONS", "/api/v1/tasks"],
  // Triggers, sign-in, health and monitoring.
  ["POST", "/api/v1/trigger_webhooks/flytesnacks/development/hook"],
  ["POST", "/oauth2/token"],
  ["GET", "/login"],
  ["GET", "/healthz"],
  ["GET", "/readyz"],
  ["GET", "/jsz"],
];

/**
 * Reports whether the listener refused the request and the browser hides the response from the
 * page.
 */
function isRefused(method: string, { status, headers }: RawResponse, origin: string | undefined): boolean {
  const shared = headers["access-control-allow-origin"];
  if (shared === "*" || (shared !== undefined && shared === origin)) return false;
  // A preflight response without permissions stops the request that would follow.
  return status === 0 || status >= 400 || method === "OPTIONS";
}

/** Destination of a request. */
export interface Target {
  readonly name: string;
  readonly address: string;
  readonly port: number;
}

/**
 * Sends a request as `sender` would to each target. Returns the targets that performed the request
 * or let the page read the response.
 */
export async function performedTargets(
  targets: readonly Target[],
  sender: Sender,
  [method, path]: readonly [string, string],
): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const { name, address, port } of targets) {
    const headers = sender.headers(port, method);
    if (headers === undefined) continue;
    const attacker = openAttacker(port, address);
    const body = ["POST", "PUT"].includes(method) ? "{}" : undefined;
    const response = await attacker.http({ method, path, headers, body });
    attacker.close();
    if (!isRefused(method, response, headers.origin)) found.push([name, port, response.status, response.text.slice(0, 100)]);
  }
  return found;
}
