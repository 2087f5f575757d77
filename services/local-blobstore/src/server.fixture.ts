import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger, Metrics } from "@flyte-ts/telemetry";
import { startBlobstore, type Blobstore } from "./server.js";

/** A server on a new directory, with a clock that the test can shift. */
export interface ServerFixture extends Blobstore {
  readonly folder: string;
  /** Offset from the real time, ms. */
  skewMs: number;
}

export async function serverFixture(folder = mkdtempSync(join(tmpdir(), "blobstore-"))): Promise<ServerFixture> {
  const fixture = { folder, skewMs: 0 };
  const server = await startBlobstore({
    dataDir: folder,
    host: "127.0.0.1",
    port: 0,
    credentials: { accessKeyId: "minio", secretAccessKey: "miniostorage" },
    buckets: ["bucket"],
    allowedOrigins: ["http://console"],
    drainTimeoutMs: 100,
    logger: createLogger({ service: "test", level: "silent" }),
    metrics: new Metrics(),
    clock: () => new Date(Date.now() + fixture.skewMs),
  });
  return Object.assign(fixture, server);
}

export async function stop(fixture: ServerFixture): Promise<void> {
  await fixture.close();
  rmSync(fixture.folder, { recursive: true, force: true });
}
