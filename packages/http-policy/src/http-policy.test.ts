import { describe, expect, test } from "vitest";
import { createHttpPolicy, type HttpPolicyOptions, type RequestHead } from "./index.js";

const local: HttpPolicyOptions = { listenAddress: "127.0.0.1", allowedOrigins: ["https://console.example.com"] };
const evil = "https://evil.example";

function statusOf(headers: RequestHead["headers"], { method = "GET", ...options }: Partial<HttpPolicyOptions> & { method?: string } = {}) {
  const policy = createHttpPolicy({ ...local, ...options });
  const request = { method, headers };
  return (policy.checkRequest(request) ?? policy.checkBody(request))?.status;
}

describe("hosts", () => {
  const servedBy = (options: HttpPolicyOptions) => (host: string | undefined) =>
    createHttpPolicy(options).checkRequest({ headers: { host } }) === undefined;

  test("a loopback listener serves loopback names and addresses, whatever the port", () => {
    const served = [
      "localhost",
      "localhost:1",
      "LOCALHOST:30080",
      "a.localhost",
      "localhost.",
      "127.0.0.1:30080",
      "127.9.9.9",
      "[::1]:80",
      undefined,
    ];
    expect(served.filter((host) => !servedBy(local)(host))).toEqual([]);
  });

  test.each([
    "evil.example",
    "evil.example:30080",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evillocalhost",
    "0.0.0.0",
    "10.0.0.1",
    "admin",
    "",
    "localhost:x",
    "localhost@evil.example",
    "evil.example/localhost",
    "[::2]",
    "localhost, evil.example",
    "a b",
  ])("a loopback listener does not serve %j", (host) => expect(servedBy(local)(host)).toBe(false));

  test("a listener beyond loopback serves IP addresses and private names", () => {
    const wide = servedBy({ listenAddress: "0.0.0.0" });
    const hosts = [
      "10.1.2.3:8088",
      "[fd00::1]",
      "flyteadmin",
      "flyteadmin.flyte.svc:81",
      "a.flyte.svc.cluster.local",
      "host.docker.internal",
      "localhost",
    ];
    expect(hosts.filter((host) => !wide(host))).toEqual([]);
    expect(["evil.example", "svc.evil.example", "evilsvc.example", "x.internal.evil.example"].filter(wide)).toEqual([]);
  });

  test("listed names are served and replace private names", () => {
    const listed = servedBy({ listenAddress: "::", allowedHosts: ["Flyte.example.com", "*.apps.example.com"] });
    expect(["flyte.example.com:443", "a.apps.example.com", "b.a.apps.example.com", "10.0.0.1"].filter((host) => !listed(host))).toEqual([]);
    expect(["apps.example.com", ".apps.example.com", "xapps.example.com", "example.com", "flyteadmin"].filter(listed)).toEqual([]);
    expect(servedBy({ ...local, allowedHosts: ["*"] })("any.example")).toBe(true);
  });

  test("the cache of hosts is bounded", () => {
    const policy = createHttpPolicy(local);
    for (let at = 0; at < 1_000; at++) expect(policy.checkRequest({ headers: { host: `h${at}.example` } })?.status).toBe(403);
    expect(policy.checkRequest({ headers: { host: "localhost" } })).toBeUndefined();
  });
});

const host = "localhost:30080";
const navigation = { host, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };

describe("web pages", () => {
  test.each([
    ["a program", { host }, "POST"],
    ["a URL typed by a user", { host, "sec-fetch-site": "none", "sec-fetch-mode": "navigate" }, "GET"],
    ["a link opened by a user", navigation, "GET"],
    ["a script of the same origin", { host, origin: "http://localhost:30080", "sec-fetch-site": "same-origin" }, "POST"],
    ["a script of the same origin over TLS", { host: "flyte.localhost", origin: "https://flyte.localhost" }, "POST"],
    ["the same origin with the scheme's own port", { host: "localhost:443", origin: "https://localhost" }, "POST"],
    ["an event stream of the same origin", { host, "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" }, "GET"],
    ["a form of the same origin that hides its referrer", { host, origin: "null", "sec-fetch-site": "same-origin" }, "POST"],
    ["a listed origin", { host, origin: "https://console.example.com", "sec-fetch-site": "cross-site" }, "POST"],
  ])("%s is served", (_, headers, method) => expect(statusOf(headers, { method })).toBeUndefined());

  test.each([
    ["another origin", { host, origin: evil }, "POST"],
    ["a read by another origin", { host, origin: evil }, "GET"],
    ["a preflight of another origin", { host, origin: evil }, "OPTIONS"],
    ["another port of this host", { host, origin: "http://localhost:3000" }, "POST"],
    ["another name of this machine", { host, origin: "http://127.0.0.1:30080" }, "POST"],
    ["a rebound name", { host: "evil.example:30080", origin: "http://evil.example:30080", "sec-fetch-site": "same-origin" }, "POST"],
    ["an opaque origin", { host, origin: "null" }, "POST"],
    ["an opaque origin of another site", { host, origin: "null", "sec-fetch-site": "cross-site" }, "POST"],
    ["an invalid origin", { host, origin: "file://" }, "POST"],
    ["two origins", { host, origin: `http://${host}, ${evil}` }, "POST"],
    ["a listed origin with a path", { host, origin: "https://console.example.com/" }, "POST"],
    ["an origin with this one as its prefix", { host, origin: "http://localhost:30080.evil.example" }, "POST"],
    ["an origin that fetch metadata contradict", { host, origin: "http://localhost:30080", "sec-fetch-site": "cross-site" }, "POST"],
    ["an image of another site", { host, "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" }, "GET"],
    ["a script of the same site without an origin", { host, "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" }, "GET"],
    ["a frame of another site", { ...navigation, "sec-fetch-dest": "iframe" }, "GET"],
    ["a form of another site", navigation, "POST"],
    ["an invalid site", { ...navigation, "sec-fetch-site": "same-origin, cross-site", "sec-fetch-mode": "cors" }, "GET"],
  ])("%s is refused", (_, headers, method) => expect(statusOf(headers, { method })).toBe(403));

  test("only listed origins may read responses", () => {
    const { allowsOrigin } = createHttpPolicy({ ...local, allowedOrigins: ["https://console.example.com", "*"] });
    expect([allowsOrigin("https://console.example.com"), allowsOrigin(evil), allowsOrigin("null")]).toEqual([true, false, false]);
  });

  test("same-site pages may embed responses if the listener allows it", () => {
    const frame = { ...navigation, "sec-fetch-site": "same-site", "sec-fetch-dest": "iframe" };
    expect(statusOf(frame)).toBe(403);
    expect(statusOf(frame, { embedding: "same-site" })).toBeUndefined();
    expect(statusOf(frame, { embedding: "same-site", method: "PUT" })).toBe(403);
    expect(statusOf({ ...frame, "sec-fetch-site": "cross-site" }, { embedding: "same-site" })).toBe(403);
  });
});

describe("bodies", () => {
  const body = { host, "content-length": "2" };

  test.each([
    "text/plain",
    "Text/Plain; charset=utf-8",
    " text/plain",
    "multipart/form-data; boundary=x",
    "application/x-www-form-urlencoded",
    "",
    undefined,
  ])("a body of type %j is refused without an origin", (type) =>
    expect(statusOf({ ...body, "content-type": type }, { method: "POST" })).toBe(415),
  );

  test("a chunked body is checked", () => {
    expect(statusOf({ host, "transfer-encoding": "chunked" }, { method: "POST" })).toBe(415);
  });

  test.each([
    ["JSON", { ...body, "content-type": "application/json" }],
    ["protobuf", { ...body, "content-type": "application/octet-stream" }],
    ["no body", { host, "content-length": "0" }],
    ["an authorization header, which causes a preflight", { ...body, authorization: "Bearer x" }],
    ["the same origin", { ...body, "content-type": "text/plain", origin: `http://${host}` }],
  ])("%s is accepted", (_, headers) => expect(statusOf(headers, { method: "POST" })).toBeUndefined());
});
