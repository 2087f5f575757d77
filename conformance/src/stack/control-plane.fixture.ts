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

/** A cluster with its own propeller and plugin service. */
export interface DataPlane {
  /** As admin's configuration has it. */
  readonly name: string;
  /** File with the cluster's own address, past the proxy. */
  readonly kubeconfig: string;
  /** Between all services and the cluster's API. */
  readonly api: ApiProxy;
}

export interface ControlPlaneOptions {
  /** Names of the data planes. Default: one without pods, whose tasks are echoes; where they are named, tasks are pods. */
  readonly dataPlanes?: readonly string[];
  /** Added to the configuration of each admin. */
  readonly admin?: object;
}

/** Several replicas of admin on one database, and data planes; everything that they stand on can fail. */
export interface ControlPlane {
  readonly admins: readonly AdminReplica[];
  readonly postgres: ServerFixture;
  readonly nats: ServerFixture;
  /** Between the replicas and the database. */
  readonly commits: CommitProxy;
  /** Between all services and the first data plane's API. */
  readonly dataPlane: ApiProxy;
  readonly dataPlanes: readonly DataPlane[];
  stop(): Promise<void>;
}

export async function startControlPlane(
  replicas: number,
  { dataPlanes: names = [], admin = {} }: ControlPlaneOptions = {},
): Promise<ControlPlane> {
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
    const [blobPort, blobOps] = await Promise.all([freePort(), freePort()]);
    const s3 = { endpoint: `http://127.0.0.1:${blobPort}`, region: "us-east-1", ...BLOB_KEY };
    const startCluster = async (name: string): Promise<DataPlane> => {
      const [port, dataDir] = [await freePort(), join(folder, name)];
      const config = { port, dataDir, podsOnStop: "kill" };
      await keep(startService({ name: `local-cluster-${name}`, service: "local-cluster", folder, readyPort: port, config }));
      const kubeconfig = join(dataDir, "kubeconfig");
      const address = /server: (\S+)/.exec(readFileSync(kubeconfig, "utf8"))?.[1] ?? "";
      return { name, kubeconfig, api: await keep(startApiProxy({ url: address })) };
    };
    const [dataPlanes] = await Promise.all([
      Promise.all((names.length === 0 ? ["local"] : names).map(startCluster)),
      keep(
        startService({
          name: "local-blobstore",
          service: "local-blobstore",
          folder,
          readyPort: blobOps,
          config: { ops: { port: blobOps }, port: blobPort, dataDir: join(folder, "blobs"), ...BLOB_KEY, buckets: ["my-s3-bucket"] },
        }),
      ),
    ]);
    const [first] = dataPlanes;
    if (first === undefined) throw new Error("a control plane without a data plane has nothing to do");
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
          clusters: dataPlanes.map(({ name, api: { kubeconfig } }) => ({ name, kubeconfig })),
          ...admin,
        };
        return { api, process: await service(`admin-${index}`, { service: "admin", config }) };
      }),
    );
    const startDataPlane = async ({ name, api: { kubeconfig } }: DataPlane) => {
      const own = names.length > 0;
      const cluster = own ? name : "";
      const propeller = {
        cluster,
        kubernetes: { kubeconfig },
        admin: { endpoint: `127.0.0.1:${admins[0]?.api}` },
        shards: { slot: "propeller", leaseMs: 60_000 },
        storage: { s3 },
      };
      await Promise.all([
        service(`propeller-${name}`, { service: "propeller", config: propeller }),
        own
          ? service(`plugin-pod-${name}`, { service: "plugins/pod", config: { cluster, kubernetes: { kubeconfig }, storage: { s3 } } })
          : service(`plugin-echo-${name}`, { service: "plugins/echo", config: { cluster } }),
      ]);
    };
    await Promise.all(dataPlanes.map(startDataPlane));
    return { admins, postgres, nats, commits, dataPlane: first.api, dataPlanes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
