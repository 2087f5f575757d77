import { randomBytes } from "node:crypto";
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { once } from "node:events";
import { brotliDecompressSync, createGunzip, gunzipSync } from "node:zlib";
import { createHttpPolicy } from "@flyte-ts/http-policy";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { DataProxyService } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import { LiveService } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, expect, test } from "vitest";
import { Code, createRpcServer, implement, RpcError } from "../../index.js";

const LONG = "flytesnacks ".repeat(1_000);
let wrote = 0;
let hasFloodEnded = false;

const server = createRpcServer({
  logger: createLogger({ service: "test", level: "silent" }),
  streamStallTimeoutMs: 300,
  httpPolicy: createHttpPolicy({ listenAddress: "127.0.0.1", allowedOrigins: ["http://console.example"] }),
  services: [
    implement(AdminService, {
      getTask: ({ id }) => {
        if (id?.name === "missing") throw new RpcError(Code.NOT_FOUND, LONG);
        return { shortDescription: id?.name === "short" ? "x" : LONG };
      },
    }),
    {
      ...implement(DataProxyService, {
        createDownloadLocation: () => ({ signedUrl: LONG }),
        getData: () => ({ data: { case: "preSignedUrls", value: { signedUrl: [LONG] } } }),
      }),
      secretAnswers: ["createDownloadLocation"],
    },
    implement(LiveService, {
      async *watchExecution({ id, cursor }, { signal }) {
        if (id?.name === "flood") {
          try {
            for (;;) yield { cursor: `${wrote++}${randomBytes(32_768).toString("hex")}` };
          } finally {
            hasFloodEnded = true;
          }
        }
        for (let at = 0; ; at++) {
          yield { cursor: `${at} ${cursor}` };
          if (id?.name === "one") await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
          if (signal.aborted || (id?.name === "two" && at === 1)) return;
        }
      },
    }),
  ],
});
const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
afterAll(() => server.drain({ deadlineMs: 100 }));

function open(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpRequest({ host: "127.0.0.1", port, path, method, headers, agent: false }, resolve).on("error", reject).end();
  });
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

async function get(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> {
  const response = await open(path, headers, method);
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(parts) };
}

const task = (name: string) => `/api/v1/tasks/p/d/${name}/v`;
const plain = ({ headers, body }: Answer): string => {
  if (headers["content-encoding"] === "br") return brotliDecompressSync(body).toString();
  return (headers["content-encoding"] === "gzip" ? gunzipSync(body) : body).toString();
};

test.each([
  ["br", "gzip, deflate, br", true],
  ["gzip", "gzip", true],
  [undefined, "identity", false],
  [undefined, "", false],
])("a long answer has the coding %s for Accept-Encoding %j", async (coding, accepted, isShort) => {
  const answer = await get(task("long"), accepted === "" ? {} : { "accept-encoding": accepted });
  expect([answer.status, answer.headers["content-encoding"], answer.headers.vary]).toEqual([200, coding, "Accept-Encoding"]);
  expect(JSON.parse(plain(answer))).toMatchObject({ shortDescription: LONG });
  expect(answer.body.length < 1_000).toBe(isShort);
});

test("binary answers and the API description are compressed too", async () => {
  const binary = await get(task("long"), { accept: "application/octet-stream", "accept-encoding": "br" });
  expect([binary.headers["content-encoding"], binary.headers["content-type"]]).toEqual(["br", "application/octet-stream"]);
  expect(plain(binary)).toContain(LONG);
  const description = await get("/api/v1/openapi", { "accept-encoding": "gzip" });
  expect(description.headers["content-encoding"]).toBe("gzip");
  expect(JSON.parse(plain(description))).toHaveProperty("paths");
});

test("short answers, errors and answers with secrets are sent as they are", async () => {
  const accepted = { "accept-encoding": "br" };
  const short = await get(task("short"), accepted);
  expect([short.headers["content-encoding"], short.headers.vary]).toEqual([undefined, undefined]);
  const missing = await get(task("missing"), accepted);
  expect([missing.status, missing.headers["content-encoding"]]).toEqual([404, undefined]);
  const secret = await get("/api/v1/dataproxy/artifact_urn?native_url=s3://a/b", accepted);
  expect([secret.status, secret.headers["content-encoding"], secret.headers.vary]).toEqual([200, undefined, undefined]);
  expect(JSON.parse(plain(secret))).toMatchObject({ signedUrl: LONG });
});

test("Vary names the origin as well as the coding", async () => {
  const answer = await get(task("long"), { origin: "http://console.example", "accept-encoding": "br" });
  expect(answer.headers.vary).toBe("Origin, Accept-Encoding");
});

test("HEAD and preflights have no body and no coding", async () => {
  const accepted = { "accept-encoding": "br" };
  const head = await get(task("long"), accepted, "HEAD");
  expect([head.status, head.body.length, head.headers["content-encoding"]]).toEqual([501, 0, undefined]);
  const preflight = await get(task("long"), { ...accepted, origin: "http://console.example" }, "OPTIONS");
  expect([preflight.body.length, preflight.headers["content-encoding"]]).toEqual([0, undefined]);
});

const watch = (name: string) => `/api/v1/watch/executions/p/d/${name}`;

test.each([
  ["application/json", '{"result":{"cursor":"0 '],
  ["text/event-stream", "retry: 1000\n\nid: 0 "],
  ["application/x-flyte-ts-frames", "\n\u0004\n\u00020 "],
])("the first message of a compressed stream of %s arrives before the second is written", async (accept, start) => {
  const response = await open(watch("one"), { accept, "accept-encoding": "gzip" });
  expect([response.headers["content-encoding"], response.headers.vary]).toEqual(["gzip", "Accept-Encoding"]);
  const gunzip = response.pipe(createGunzip());
  let text = "";
  gunzip.on("data", (part: Buffer) => (text += part.toString()));
  gunzip.on("error", () => undefined);
  await expect.poll(() => text).toContain(start);
  response.destroy();
});

test("a compressed stream ends completely", async () => {
  for (const coding of ["br", "gzip"]) {
    const answer = await get(`${watch("two")}?cursor=${"c".repeat(5_000)}`, { "accept-encoding": coding });
    expect(answer.headers["content-encoding"]).toBe(coding);
    expect(plain(answer).trim().split("\n")).toHaveLength(2);
  }
});

test("a client that reads nothing of a compressed stream stops its messages", async () => {
  wrote = 0;
  const response = await open(watch("flood"), { accept: "application/x-flyte-ts-frames", "accept-encoding": "gzip" });
  response.pause();
  response.on("error", () => undefined);
  const closed = once(response.socket, "close");
  // The server ends the stream of a client that has stalled.
  await expect.poll(() => hasFloodEnded).toBe(true);
  // 32 KiB each when compressed; sockets take some megabytes.
  expect(wrote).toBeLessThan(1_000);
  response.resume();
  await closed;
});
