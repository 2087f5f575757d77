import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createBlobStore } from "@flyte-ts/blobstore";
import { DataCatalog } from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import { createPool, type Database } from "@flyte-ts/postgres";
import { createClient, createRpcServer, openChannel, type ServiceClient } from "@flyte-ts/rpc";
import { createLogger, Metrics } from "@flyte-ts/telemetry";
import { postgresFixture } from "@flyte-ts/testing";
import { datacatalogConfigSchema } from "./config.js";
import { datacatalogServices, mapInfrastructureErrors } from "./server.js";

/** The service on a real database, with two replicas and a client of each. */
export interface ServedCatalog {
  readonly db: Database;
  readonly catalog: ServiceClient<typeof DataCatalog>;
  readonly replica: ServiceClient<typeof DataCatalog>;
  /** Folder of the blobs. */
  readonly blobs: string;
  stop(): Promise<void>;
}

export async function serveCatalog(): Promise<ServedCatalog> {
  const logger = createLogger({ service: "test", level: "silent" });
  const postgres = await postgresFixture();
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-test-catalog-"));
  const stops: (() => Promise<void>)[] = [];
  const replica = async () => {
    const db = createPool({ url: postgres.url, logger });
    await db.migrate({ directory: fileURLToPath(new URL("../migrations", import.meta.url)), logger });
    const config = datacatalogConfigSchema.parse({ storage: { container: `file://${folder}`, inlineBytes: 100 } });
    const services = datacatalogServices({ config, db, blobs: createBlobStore({}), logger, metrics: new Metrics(), uuid: randomUUID });
    const server = createRpcServer({ logger, services, interceptors: [mapInfrastructureErrors] });
    const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
    const channel = openChannel({ endpoint: `127.0.0.1:${port}` });
    stops.push(async () => {
      channel.close();
      await server.drain({ deadlineMs: 100 });
      await db.close();
    });
    return { db, catalog: createClient({ channel, service: DataCatalog }) };
  };
  const first = await replica();
  const second = await replica();
  return {
    ...first,
    replica: second.catalog,
    blobs: folder,
    stop: async () => {
      for (const stop of stops) await stop();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
