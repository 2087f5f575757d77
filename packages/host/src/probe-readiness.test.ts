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
    const told = answer(request.url ?? "");
    if (told !== undefined) response.writeHead(told.status).end(told.text);
  });
  server = made;
  await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve));
  return (made.address() as AddressInfo).port;
}

test("what a service says of itself", async () => {
  let status = 503;
  const port = await serving((path) => ({ status, text: `${path}: waiting for the database\n` }));
  expect(await probeReadiness(port, 1_000)).toEqual({ ready: false, text: "/readyz: waiting for the database" });
  status = 200;
  expect(await probeReadiness(port, 1_000)).toMatchObject({ ready: true });
});

test("who does not listen, or does not answer, throws", async () => {
  const port = await serving(() => undefined);
  await expect(probeReadiness(port, 50)).rejects.toThrow(/abort/i);
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
  await expect(probeReadiness(port, 1_000)).rejects.toThrow("ECONNREFUSED");
});
