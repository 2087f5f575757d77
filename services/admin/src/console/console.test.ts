import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { createRpcServer, type RpcServer } from "@flyte-ts/rpc";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, expect, test } from "vitest";
import { consoleRoutes } from "./routes.js";

const outside = mkdtempSync(join(tmpdir(), "flyte-ts-console-"));
const folder = join(outside, "console");
const SCRIPT = "export const a = 1;\n".repeat(100);
const INDEX = "<!doctype html><title>console</title>";

const logger = createLogger({ service: "test", level: "silent" });
const deps = { logger, blobs: { get: () => Promise.resolve(undefined) } };
let server: RpcServer;
let port: number;
beforeAll(async () => {
  mkdirSync(join(folder, "assets", "deep"), { recursive: true });
  writeFileSync(join(outside, "secret.txt"), "secret");
  const files: Record<string, string | Buffer> = {
    "index.html": INDEX,
    "favicon.svg": "<svg/>",
    ".env": "secret",
    "assets/main-abc123.js": SCRIPT,
    "assets/main-abc123.js.br": brotliCompressSync(SCRIPT),
    "assets/main-abc123.js.gz": gzipSync(SCRIPT),
    "assets/only-1.css": "a{}",
    "assets/only-1.css.gz": gzipSync("a{}"),
    "assets/deep/a b.txt": "named",
    "assets/changed-1.txt": "before",
    "assets/kept-1.txt": "kept",
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  symlinkSync(join(outside, "secret.txt"), join(folder, "link.txt"));
  symlinkSync(outside, join(folder, "assets", "out"));
  symlinkSync("main-abc123.js", join(folder, "assets", "inside.js"));
  symlinkSync("/nowhere", join(folder, "broken"));
  const httpRoutes = await consoleRoutes({ folder, blobOrigins: ["https://bucket.example"], deckOrigins: [] }, deps);
  server = createRpcServer({ logger, services: [], httpRoutes });
  ({ port } = await server.listen({ host: "127.0.0.1", port: 0 }));
  writeFileSync(join(folder, "assets", "changed-1.txt"), "after the start");
  writeFileSync(join(folder, "assets", "new-1.txt"), "new");
});
afterAll(async () => {
  await server.drain({ deadlineMs: 100 });
  rmSync(outside, { recursive: true });
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Sends the path as it is, unlike fetch, which removes `..`. */
function get(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ host: "127.0.0.1", port, path, method, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(parts) }));
    });
    sent.on("error", reject).end();
  });
}

test.each([
  "/console",
  "/console/",
  "/console?x=1",
  "/console/index.html",
  "/console/projects/p/domains/d/executions/a.b.js",
  "/console/link.txt",
])("%s is the page of the console", async (path) => {
  const { status, headers, body } = await get(path);
  expect([status, body.toString(), headers["content-type"], headers["cache-control"]]).toEqual([
    200,
    INDEX,
    "text/html; charset=utf-8",
    "no-cache",
  ]);
});

test("every answer has the security headers", async () => {
  for (const [path, method, status] of [
    ["/console", "GET", 200],
    ["/console/assets/main-abc123.js", "GET", 200],
    ["/console/assets/none.js", "GET", 404],
    ["/console", "POST", 405],
  ] as const) {
    const { headers, ...answer } = await get(path, {}, method);
    expect(answer.status).toBe(status);
    expect(headers["content-security-policy"]).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; font-src 'self'; connect-src 'self' https://bucket.example; worker-src 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'",
    );
    expect(headers["referrer-policy"]).toBe("same-origin");
    expect(headers["cross-origin-opener-policy"]).toBe("same-origin");
    expect(headers["x-content-type-options"]).toBe("nosniff");
  }
});

test.each([
  ["br, gzip", "br", (body: Buffer) => brotliDecompressSync(body).toString()],
  ["gzip", "gzip", (body: Buffer) => gunzipSync(body).toString()],
  ["identity", undefined, (body: Buffer) => body.toString()],
] as const)("a script is sent for Accept-Encoding %s as %s, and kept for ever", async (accepted, encoding, decode) => {
  const { status, headers, body } = await get("/console/assets/main-abc123.js", { "accept-encoding": accepted });
  expect([status, headers["content-encoding"], headers.vary]).toEqual([200, encoding, "Accept-Encoding"]);
  expect(headers["content-type"]).toBe("text/javascript; charset=utf-8");
  expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  expect(headers["content-length"]).toBe(String(body.length));
  expect(decode(body)).toBe(SCRIPT);
});

test("the best form that the folder has is chosen", async () => {
  const style = await get("/console/assets/only-1.css", { "accept-encoding": "br, gzip;q=0.1" });
  expect(style.headers["content-encoding"]).toBe("gzip");
  const icon = await get("/console/favicon.svg", { "accept-encoding": "br" });
  expect([icon.headers["content-encoding"], icon.headers.vary, icon.headers["cache-control"]]).toEqual([undefined, undefined, "no-cache"]);
});

test("a compressed form has no address of its own", async () => {
  expect((await get("/console/assets/main-abc123.js.br")).status).toBe(404);
});

test("names with blanks and links inside the folder are served", async () => {
  expect((await get("/console/assets/deep/a%20b.txt")).body.toString()).toBe("named");
  expect((await get("/console/assets/inside.js")).body.toString()).toBe(SCRIPT);
});

test("HEAD has the headers alone, and 304 answers a browser that has the file", async () => {
  const head = await get("/console/assets/main-abc123.js", { "accept-encoding": "gzip" }, "HEAD");
  expect([head.status, head.body.length, head.headers["content-encoding"]]).toEqual([200, 0, "gzip"]);
  expect(Number(head.headers["content-length"])).toBeGreaterThan(0);
  const known = (await get("/console")).headers.etag ?? "";
  const again = await get("/console/projects", { "if-none-match": known });
  expect([again.status, again.body.length, again.headers.etag, again.headers["cache-control"]]).toEqual([304, 0, known, "no-cache"]);
});

test.each(["POST", "PUT", "DELETE"])("%s is refused", async (method) => {
  const { status, headers } = await get("/console/index.html", {}, method);
  expect([status, headers.allow]).toEqual([405, "GET, HEAD"]);
});

test.each([
  "/console/../secret.txt",
  "/console/assets/../../secret.txt",
  "/console/%2e%2e/secret.txt",
  "/console/..%2fsecret.txt",
  "/console/..%5csecret.txt",
  "/console/assets/%2e%2e/%2e%2e/secret.txt",
  "/console/assets/out/secret.txt",
  "/console/link.txt",
  "/console/.env",
  "/console//etc/passwd",
  "/console/%00",
  `/console/${encodeURIComponent("/etc/passwd")}`,
])("%s shows no file outside of the folder", async (path) => {
  const { body } = await get(path);
  expect(body.toString()).not.toMatch(/secret|root:/);
});

test("a file that appeared or changed after the start is not served", async () => {
  expect((await get("/console/assets/changed-1.txt")).status).toBe(404);
  expect((await get("/console/assets/new-1.txt")).status).toBe(404);
});

test("a file that has been sent is not read again", async () => {
  expect((await get("/console/assets/kept-1.txt")).body.toString()).toBe("kept");
  rmSync(join(folder, "assets", "kept-1.txt"));
  expect((await get("/console/assets/kept-1.txt")).body.toString()).toBe("kept");
});

test("without a folder there is no console; a folder without an index is an error", async () => {
  expect(await consoleRoutes({ folder: "", blobOrigins: [], deckOrigins: [] }, deps)).toEqual([]);
  await expect(consoleRoutes({ folder: join(folder, "assets"), blobOrigins: [], deckOrigins: [] }, deps)).rejects.toThrow(
    /has no index.html/,
  );
  expect(await consoleRoutes({ folder: join(outside, "none"), blobOrigins: [], deckOrigins: [] }, deps)).toEqual([]);
});
