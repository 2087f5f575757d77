import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { Metrics as Registry } from "@flyte-ts/telemetry";
import { type OpsServer, startOpsServer } from "./ops-server.js";
import { type Check, Readiness } from "./readiness.js";

let now = 0;
let ops: OpsServer | undefined;
afterEach(async () => {
  await ops?.close();
  ops = undefined;
});

function readinessOf(checks: Record<string, Check>, timeoutMs = 2_000): Readiness {
  return new Readiness({ checks, now: () => now, graceMs: 5_000, timeoutMs });
}

test("a process is ready from the time it serves until its shutdown begins", async () => {
  const readiness = readinessOf({ database: () => undefined });
  expect(await readiness.state()).toEqual({ ready: false, reason: "starting", checks: {} });
  readiness.starting("waiting for the bus");
  expect((await readiness.state()).reason).toBe("starting: waiting for the bus");
  readiness.serving();
  expect(await readiness.state()).toEqual({ ready: true, checks: { database: { ok: true } } });
  readiness.stopping();
  expect(await readiness.state()).toEqual({ ready: false, reason: "stopping", checks: {} });
});

test("a short outage of a dependency is tolerated, a longer one is not, and recovery is immediate", async () => {
  let problem: string | undefined;
  const readiness = readinessOf({ database: () => problem, bus: () => undefined });
  readiness.serving();
  const ready = async (at: number, why?: string) => {
    [now, problem] = [at, why];
    return (await readiness.state()).ready;
  };
  const seen = [];
  for (const [at, why] of [
    [0],
    [1, "away"],
    [4_000, "away"],
    [4_500],
    [5_000, "away"],
    [9_900, "away"],
    [10_000, "away"],
    [10_001],
    [10_002, "away"],
  ] as const)
    seen.push(await ready(at, why));
  expect(seen).toEqual([true, true, true, true, true, true, false, true, true]);
  now = 20_000;
  expect(await readiness.state()).toEqual({
    ready: false,
    reason: "away",
    checks: { database: { ok: false, problem: "away", sinceMs: 9_998 }, bus: { ok: true } },
  });
});

test("a dependency that never worked has no grace period; errors and timeouts count as failures", async () => {
  const readiness = readinessOf({ a: () => Promise.reject(new Error("broken")), b: () => new Promise(() => undefined) }, 20);
  readiness.serving();
  const { reason, checks } = await readiness.state();
  expect([reason, checks.a?.problem, checks.b?.problem]).toEqual(["a: broken", "a: broken", "b: check timed out after 20 ms"]);
});

test("readiness and liveness are served over HTTP", async () => {
  const readiness = readinessOf({ database: () => undefined });
  ops = await startOpsServer({ port: 0, metrics: new Registry(), readiness });
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${ops?.port}${path}`);
    return [response.status, await response.text()] as const;
  };
  expect(await get("/healthz")).toEqual([200, "ok\n"]);
  expect(await get("/readyz")).toEqual([503, "starting\n"]);
  readiness.serving();
  expect(await get("/readyz")).toEqual([200, "ok\n"]);
  const [status, text] = await get("/readyz?verbose");
  expect([status, JSON.parse(text)]).toEqual([200, { ready: true, checks: { database: { ok: true } } }]);
});

test("requests from pages of other origins and with rebound host names are refused", async () => {
  const readiness = readinessOf({});
  readiness.serving();
  const { port } = (ops = await startOpsServer({ port: 0, metrics: new Registry(), readiness }));
  const statusOf = (headers: Record<string, string>, path = "/metrics") =>
    new Promise((resolve, reject) => {
      request({ port, path, headers }, (response) => resolve(response.resume().statusCode))
        .on("error", reject)
        .end();
    });
  const refused = [{ host: "evil.example" }, { origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }];
  expect(await Promise.all([...refused, {}].map((headers) => statusOf(headers)))).toEqual([403, 403, 403, 200]);
  expect(await statusOf({ host: "evil.example" }, "/healthz")).toBe(403);
});

test("a request target that is not a URL is answered as an unknown path, and the process continues", async () => {
  const readiness = readinessOf({});
  readiness.serving();
  const { port } = (ops = await startOpsServer({ port: 0, metrics: new Registry(), readiness }));
  const statusOf = (path: string) =>
    new Promise((resolve, reject) => {
      request({ port, path }, (response) => resolve(response.resume().statusCode))
        .on("error", reject)
        .end();
    });
  expect([await statusOf("//"), await statusOf("http://"), await statusOf("//[?verbose"), await statusOf("/readyz?verbose")]).toEqual([
    404, 404, 404, 200,
  ]);
});

test("a connection with an incomplete request head is closed", async () => {
  ops = await startOpsServer({ port: 0, requestTimeoutMs: 50, readiness: readinessOf({}), metrics: new Registry() });
  const socket = connect(ops.port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1.1 408/);
  await once(socket, "close");
});
