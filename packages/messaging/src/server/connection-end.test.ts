import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@nats-io/transport-node";
import { type LocalServer, startNats } from "@flyte-ts/local-servers";
import type { Logger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openBus } from "../bus.js";
import { ServerChoice } from "./server-switch.js";

const folder = mkdtempSync(join(tmpdir(), "connection-end-"));
let server: LocalServer;
beforeAll(async () => {
  server = await startNats({ dataDir: join(folder, "nats") });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A bus whose client gives its connection up at the first loss, and the messages that it logs. */
async function busWithoutReconnect() {
  const logged: unknown[] = [];
  const keep = (fields: object, message: string) => void logged.push([fields, message]);
  const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: keep, fatal: keep } as unknown as Logger;
  const connection = await connect({ servers: `127.0.0.1:${server.port}`, reconnect: false });
  const connected = { connection, inbox: "_INBOX", choice: new ServerChoice() };
  const onEnded = vi.fn();
  return { logged, onEnded, open: (options: object = { onEnded }) => openBus(connected, { name: "test", logger, ...options }) };
}

async function restart(): Promise<void> {
  const { port } = server;
  await server.stop();
  server = await startNats({ dataDir: join(folder, "nats"), port });
}

test("a connection that ends for good is logged, and ends the process", async () => {
  const exit = vi.spyOn(process, "exit").mockImplementation(() => undefined as never);
  const { logged, open } = await busWithoutReconnect();
  const bus = await open({});
  await restart();
  await expect.poll(() => exit.mock.calls).toEqual([[1]]);
  expect(logged).toEqual([
    [{ reason: expect.any(String) }, "the connection to the message bus ended and is not restored; this process exits to be started again"],
  ]);
  await bus.close();
});

test("the owner of a bus may handle the end of its connection instead", async () => {
  const { onEnded, open } = await busWithoutReconnect();
  const bus = await open();
  await restart();
  await expect.poll(() => onEnded.mock.calls).toEqual([[expect.objectContaining({ name: "BusConnectionEnded" })]]);
  await bus.close();
});

test("a bus that is closed reports no end", async () => {
  const { logged, onEnded, open } = await busWithoutReconnect();
  const bus = await open();
  await bus.close();
  await restart();
  expect([logged, onEnded.mock.calls]).toEqual([[], []]);
});
