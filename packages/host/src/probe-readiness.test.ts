import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { probeReadiness } from "./probe-readiness.js";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serving(answer: (path: string) => { status: number; text: string } | undefined): Promise<number> {
  const made = createServer((request, response) => {
    const reply = answer(request.url ?? "");
    if (reply !== undefined) response.writeHead(reply.status).end(reply.text);
  });
  server = made;
  await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve));
  return (made.address() as AddressInfo).port;
}

test("a probe returns the service's readiness", async () => {
  let status = 503;
  const port = await serving((path) => ({ status, text: `${path}: waiting for the database\n` }));
  expect(await probeReadiness(`http://127.0.0.1:${port}`, { timeoutMs: 1_000 })).toEqual({
    ready: false,
    text: "/readyz: waiting for the database",
  });
  status = 200;
  expect(await probeReadiness(`http://127.0.0.1:${port}`, { timeoutMs: 1_000 })).toMatchObject({ ready: true });
});

test("a probe fails when no server listens or answers in time", async () => {
  const port = await serving(() => undefined);
  await expect(probeReadiness(`http://127.0.0.1:${port}`, { timeoutMs: 50 })).rejects.toThrow(/abort/i);
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
  await expect(probeReadiness(`http://127.0.0.1:${port}`, { timeoutMs: 1_000 })).rejects.toThrow("ECONNREFUSED");
});
