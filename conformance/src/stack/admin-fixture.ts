import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@flyte-ts/host";
import { natsFixture, postgresFixture } from "@flyte-ts/testing";
import { startService } from "./service-process.js";

/** Admin with a database, a bus and a blob store of its own and no data plane: executions stay as requests leave them. */
export interface RunningAdmin {
  /** One port for gRPC and REST. */
  readonly api: number;
  readonly databaseUrl: string;
  readonly configFile: string;
  /** Process id of admin. */
  readonly pid: number;
  /** Bytes of memory that admin's process holds. */
  residentBytes(): number;
  /** What admin has logged, line by line. */
  log(): string[];
  /** Ends everything; rejects when admin had ended before or ended badly. */
  stop(): Promise<void>;
}

/** The key of the blob store that tests start. */
export const BLOB_KEY = { accessKeyId: "minio", secretAccessKey: "miniostorage" };

/**
 * Starts admin from its build on free ports, on a fresh database, configured as the local stack configures it.
 *
 * @param more settings beside those, given the port of its API
 */
export async function startAdmin(more: (api: number) => object = () => ({})): Promise<RunningAdmin> {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-admin-"));
  const stops: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (const step of stops.splice(0).reverse()) await step();
  };
  try {
    const keep = async <Server extends { stop(): Promise<void> }>(starting: Promise<Server>): Promise<Server> => {
      const server = await starting;
      stops.push(() => server.stop());
      return server;
    };
    const [postgres, nats] = await Promise.all([keep(postgresFixture()), keep(natsFixture())]);
    const [api, blobs, adminOps, blobOps] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
    await keep(
      startService({
        name: "local-blobstore",
        service: "local-blobstore",
        folder,
        readyPort: blobOps,
        config: { ops: { port: blobOps }, port: blobs, dataDir: join(folder, "blobs"), ...BLOB_KEY, buckets: ["my-s3-bucket"] },
      }),
    );
    const admin = await keep(
      startService({
        name: "admin",
        service: "admin",
        folder,
        readyPort: adminOps,
        config: {
          ops: { port: adminOps },
          server: { host: "127.0.0.1", grpcPort: api, httpPort: api },
          database: { url: postgres.url },
          nats: { url: nats.url },
          storage: { container: "s3://my-s3-bucket", s3: { endpoint: `http://127.0.0.1:${blobs}`, region: "us-east-1", ...BLOB_KEY } },
          taskResources: { defaults: { cpu: "500m", memory: "500Mi" }, limits: { cpu: "4", memory: "4Gi", gpu: "1" } },
          registration: { maxWorkflowNodes: 100_000 },
          ...more(api),
        },
      }),
    );
    return {
      api,
      databaseUrl: postgres.url,
      configFile: admin.configFile,
      pid: admin.pid,
      residentBytes: admin.residentBytes,
      log: admin.log,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
