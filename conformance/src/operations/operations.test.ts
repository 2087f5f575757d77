import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { createFlyteClient } from "@flyte-ts/client";
import { freePort } from "@flyte-ts/host";
import { natsFixture, postgresFixture, type ServerFixture } from "@flyte-ts/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SERVICES, serviceOf } from "../services.js";
import { type ServiceProcess, startService } from "../stack/service-process.js";
import { builtProgram } from "../stack/built-program.js";

const PROGRAMS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    SERVICES.filter(({ manifest }) => manifest.plane !== "sidecar").map(({ manifest, folder }) => [manifest.id, builtProgram(folder)]),
  ),
  "node-runner": builtProgram(serviceOf("local-cluster").folder, "node-runner/main.js"),
};

const folder = mkdtempSync(join(tmpdir(), "flyte-ts-operations-"));
const SECRET = "a-secret-of-the-test";
let postgres: ServerFixture;
let nats: ServerFixture;
const admins: { readonly process: ServiceProcess; readonly api: number; readonly ops: number }[] = [];

beforeAll(async () => {
  [postgres, nats] = await Promise.all([postgresFixture(), natsFixture()]);
  // Start four replicas concurrently on an empty database.
  admins.push(
    ...(await Promise.all(
      Array.from({ length: 4 }, async (_, index) => {
        const [api, ops] = await Promise.all([freePort(), freePort()]);
        const config = {
          ops: { port: ops },
          server: { grpcPort: api, httpPort: api, drain: { delayMs: 3_000 } },
          database: { url: postgres.url, maxConnections: 5 },
          nats: { url: nats.url },
        };
        return { api, ops, process: await startService({ name: `admin-${index}`, service: "admin", folder, readyPort: ops, config }) };
      }),
    )),
  );
});
afterAll(async () => {
  for (const admin of admins) await admin.process.stop();
  await Promise.all([postgres?.stop(), nats?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

test.each(Object.entries(PROGRAMS))("%s prints its schema and suggests a name for an unknown setting", (_, main) => {
  const schema = JSON.parse(execFileSync(process.execPath, [main, "--print-schema"], { encoding: "utf8" })) as {
    type: string;
    properties: Record<string, object>;
  };
  expect(schema.type).toBe("object");
  expect(schema.properties.logLevel).toMatchObject({ default: "info" });
  const { status, stderr } = spawnSync(process.execPath, [main, "--logLevle", "debug"], { encoding: "utf8" });
  expect([status, stderr]).toEqual([2, expect.stringContaining("logLevle: unknown setting; did you mean logLevel?")]);
});

test("the effective configuration is printed without secrets", () => {
  const env = { ...process.env, FLYTE_TS_ADMIN_STORAGE__S3__SECRET_ACCESS_KEY: SECRET };
  const words = [PROGRAMS.admin ?? "", "--print-config", "--database.url", `postgresql://flyte:${SECRET}@db/x`];
  const text = execFileSync(process.execPath, words, { encoding: "utf8", env });
  expect(text).toContain("postgresql://flyte:[secret]@db/x");
  expect(text).not.toContain(SECRET);
});

test("replicas that start concurrently on an empty database migrate it once", () => {
  const applied = admins.flatMap((admin) => admin.process.log().filter((line) => line.includes("migration applied")));
  const names = applied.map((line) => (JSON.parse(line) as { migration: string }).migration);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThan(5);
});

const ready = async (
  ops: number,
): Promise<{ status: number; state: { ready: boolean; reason?: string; checks: Record<string, object> } }> => {
  // Use a new connection: the server may have closed a kept-alive connection while this process
  // waited for a program.
  const request = get({ host: "127.0.0.1", port: ops, path: "/readyz?verbose", agent: false });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, state: (await json(response)) as never };
};

test("readiness names unavailable dependencies and does not change during a restart of the database", async () => {
  const ops = admins[0]?.ops ?? 0;
  expect(await ready(ops)).toEqual({ status: 200, state: { ready: true, checks: { bus: { ok: true }, database: { ok: true } } } });
  await postgres.restart();
  expect((await ready(ops)).status).toBe(200);
  await nats.kill();
  await expect.poll(async () => (await ready(ops)).state.checks.bus).toMatchObject({ ok: false });
  await expect.poll(async () => (await ready(ops)).status).toBe(503);
  expect((await ready(ops)).state.checks.database).toEqual({ ok: true });
  await nats.restart();
  await expect.poll(async () => (await ready(ops)).status).toBe(200);
});

test("a replica that shuts down reports not ready, answers pending calls and exits with 0", async () => {
  const [, admin] = admins;
  if (admin === undefined) throw new Error("no admin");
  const client = createFlyteClient({ endpoint: `127.0.0.1:${admin.api}` });
  await client.ready(10_000);
  const ended = admin.process.terminate();
  await expect.poll(async () => (await ready(admin.ops)).state.reason, { interval: 5 }).toBe("stopping");
  expect((await client.admin.listProjects({})).projects).toHaveLength(1);
  expect(await ended).toBe("status 0");
  client.close();
});
