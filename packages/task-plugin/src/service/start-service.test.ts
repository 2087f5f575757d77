import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@flyte-ts/host";
import { startNats } from "@flyte-ts/local-servers";
import { createLogger, Metrics } from "@flyte-ts/telemetry";
import { expect, test } from "vitest";
import { startService } from "./start-service.js";

test("a service that waits for the message bus is alive, and says what it waits for", async () => {
  const folder = mkdtempSync(join(tmpdir(), "start-service-"));
  const [busPort, opsPort] = [await freePort(), await freePort()];
  const started = startService({
    id: "plugin-test",
    nats: { url: `nats://127.0.0.1:${busPort}` },
    cluster: "",
    ops: { port: opsPort },
    logger: createLogger({ service: "test", level: "silent" }),
    metrics: new Metrics(),
  });
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${opsPort}${path}`);
    return [response.status, await response.text()] as const;
  };
  await expect.poll(() => get("/healthz").catch(() => undefined)).toEqual([200, "ok\n"]);
  expect(await get("/readyz")).toEqual([503, "starting: waiting for the message bus\n"]);
  const server = await startNats({ dataDir: join(folder, "nats"), port: busPort });
  const { bus, readiness, ops } = await started;
  readiness.serving();
  expect(await get("/readyz")).toEqual([200, "ok\n"]);
  await bus.close();
  await ops.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});
