import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@flyte-ts/host";
import { natsFixture, postgresFixture } from "@flyte-ts/testing";
import { startService } from "./service-process.js";

/**
 * Admin with its own database, bus and blob store and no data plane: executions stay as requests
 * leave them.
 */
export interface RunningAdmin {
  /** One port for gRPC and REST. */
  readonly api: number;
  readonly databaseUrl: string;
  readonly configFile: string;
  /** Process id of admin. */
  readonly pid: number;
  /** Resident memory of admin's process, bytes. */
  residentBytes(): number;
  /** Lines of admin's log. */
  log(): string[];
  /** Stops everything; rejects when admin had exited before or exits with an error. */
  stop(): Promise<void>;
}

/** Key of the blob store that tests start. */
export const BLOB_KEY = { accessKeyId: "minio", secretAccessKey: "miniostorage" };

/**
 * Starts the built admin on free ports and an empty database, configured as the local stack
 * configures it.
 *
 * @param settings further settings, given the port of its API
 */
export async function startAdmin(settings: (api: number) => object = () => ({})): Promise<RunningAdmin> {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-admin-"));
  const stops: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (const step of stops.splice(0).reverse()) await step();
  };
  try {
    const onStop = async <Server extends { stop(): Promise<void> }>(starting: Promise<Server>): Promise<Server> => {
      const server = await starting;
      stops.push(() => server.stop());
      return server;
    };
    const [postgres, nats] = await Promise.all([onStop(postgresFixture()), onStop(natsFixture())]);
    const [api, blobs, adminOps, blobOps] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
    await onStop(
      startService({
        name: "local-blobstore",
        service: "local-blobstore",
        folder,
        readyPort: blobOps,
        config: { ops: { port: blobOps }, port: blobs, dataDir: join(folder, "blobs"), ...BLOB_KEY, buckets: ["my-s3-bucket"] },
      }),
    );
    const admin = await onStop(
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
          ...settings(api),
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
