import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@flyte-ts/local-servers";
import {
  type ApiProxy,
  type CommitProxy,
  natsFixture,
  postgresFixture,
  type ServerFixture,
  startApiProxy,
  startCommitProxy,
} from "@flyte-ts/testing";
import { BLOB_KEY } from "./admin-fixture.js";
import { type ServiceProcess, startService } from "./service-process.js";

/** One replica of admin. */
export interface AdminReplica {
  readonly process: ServiceProcess;
  readonly api: number;
}

/** Several replicas of admin on one database, and one data plane without pods; everything that they stand on can fail. */
export interface ControlPlane {
  readonly admins: readonly AdminReplica[];
  readonly postgres: ServerFixture;
  readonly nats: ServerFixture;
  /** Between the replicas and the database. */
  readonly commits: CommitProxy;
  /** Between all services and the data plane's API. */
  readonly dataPlane: ApiProxy;
  stop(): Promise<void>;
}

export async function startControlPlane(replicas: number): Promise<ControlPlane> {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-control-plane-"));
  const stops: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (const step of stops.splice(0).reverse()) await step();
  };
  const keep = async <Part extends { stop(): Promise<void> }>(starting: Promise<Part>): Promise<Part> => {
    const part = await starting;
    stops.push(() => part.stop());
    return part;
  };
  try {
    const [postgres, nats] = await Promise.all([keep(postgresFixture({ durable: true })), keep(natsFixture())]);
    const commits = await keep(startCommitProxy(postgres.url));
    const [clusterPort, blobPort, blobOps] = await Promise.all([freePort(), freePort(), freePort()]);
    const s3 = { endpoint: `http://127.0.0.1:${blobPort}`, region: "us-east-1", ...BLOB_KEY };
    const clusterFolder = join(folder, "cluster");
    await Promise.all([
      keep(
        startService({
          name: "local-blobstore",
          service: "local-blobstore",
          folder,
          readyPort: blobOps,
          config: { ops: { port: blobOps }, port: blobPort, dataDir: join(folder, "blobs"), ...BLOB_KEY, buckets: ["my-s3-bucket"] },
        }),
      ),
      keep(
        startService({
          name: "local-cluster",
          service: "local-cluster",
          folder,
          readyPort: clusterPort,
          config: { port: clusterPort, dataDir: clusterFolder },
        }),
      ),
    ]);
    const address = /server: (\S+)/.exec(readFileSync(join(clusterFolder, "kubeconfig"), "utf8"))?.[1] ?? "";
    const dataPlane = await keep(startApiProxy({ url: address }));
    const service = async (name: string, settings: { readonly service: string; readonly config: object }) => {
      const readyPort = await freePort();
      const config = { ops: { port: readyPort }, nats: { url: nats.url }, ...settings.config };
      return keep(startService({ name, service: settings.service, folder, readyPort, config }));
    };
    // Together: the first one migrates the database, the others wait for it.
    const admins = await Promise.all(
      Array.from({ length: replicas }, async (_, index): Promise<AdminReplica> => {
        const api = await freePort();
        const config = {
          server: { host: "127.0.0.1", grpcPort: api, httpPort: api },
          database: { url: commits.url },
          storage: { container: "s3://my-s3-bucket", s3 },
          clusters: [{ name: "local", kubeconfig: dataPlane.kubeconfig }],
        };
        return { api, process: await service(`admin-${index}`, { service: "admin", config }) };
      }),
    );
    await Promise.all([
      service("propeller", {
        service: "propeller",
        config: {
          kubernetes: { kubeconfig: dataPlane.kubeconfig },
          admin: { endpoint: `127.0.0.1:${admins[0]?.api}` },
          shards: { slot: "propeller", leaseMs: 60_000 },
          storage: { s3 },
        },
      }),
      service("plugin-echo", { service: "plugins/echo", config: {} }),
    ]);
    return { admins, postgres, nats, commits, dataPlane, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
