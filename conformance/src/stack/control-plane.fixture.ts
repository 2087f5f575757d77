import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@flyte-ts/host";
import {
  type FaultProxy,
  type CommitFaultProxy,
  type KubernetesFixture,
  natsFixture,
  postgresFixture,
  type ServerFixture,
  startFaultProxy,
  startCommitFaultProxy,
} from "@flyte-ts/testing";
import { BLOB_KEY } from "./admin-fixture.js";
import { type ServiceProcess, startService } from "./service-process.js";

/** A replica of admin. */
export interface AdminReplica {
  readonly process: ServiceProcess;
  readonly api: number;
}

/** A cluster with its own propeller and plugin services. */
export interface DataPlane {
  /** Name in admin's configuration. */
  readonly name: string;
  /** Kubeconfig with the cluster's own address, bypassing the proxy. */
  readonly kubeconfig: string;
  /** Proxy between all services and the cluster's API. */
  readonly api: FaultProxy;
  readonly propellers: readonly ServiceProcess[];
  /** Replicas by task plugin. */
  readonly plugins: Readonly<Partial<Record<TaskPlugin, readonly ServiceProcess[]>>>;
}

export type TaskPlugin = "echo" | "pod";

export interface ControlPlaneOptions {
  /**
   * Names of the data planes. Default: one without pods, whose tasks are echoes; named data planes
   * run pods.
   */
  readonly dataPlanes?: readonly string[];
  /** Further settings of each admin. */
  readonly admin?: object;
  /** Further settings of each propeller. */
  readonly propeller?: object;
  /** Starts the database. Default: one server, whose commits survive a crash. */
  readonly postgres?: () => Promise<ServerFixture>;
  /** Task plugins of each data plane. */
  readonly plugins?: readonly TaskPlugin[];
  /** Replicas of each propeller and task plugin. Default: 1. */
  readonly dataPlaneReplicas?: number;
  /** API to use as the data plane instead of a local cluster; the caller provides its nodes. */
  readonly kubernetes?: Pick<KubernetesFixture, "url" | "token" | "ca" | "kubeconfig">;
  /** Folder of the blob store, which is kept. Default: a temporary one. */
  readonly blobs?: string;
  /**
   * Runs when the servers are up and before any service starts, with the database's URL and a
   * kubeconfig for each data plane.
   */
  readonly prepare?: (databaseUrl: string, kubeconfigs: readonly string[]) => Promise<void>;
}

/** Several replicas of admin on one database, and data planes; every dependency can fail. */
export interface ControlPlane {
  readonly admins: readonly AdminReplica[];
  readonly postgres: ServerFixture;
  readonly nats: ServerFixture;
  /** Proxy between the replicas and the database. */
  readonly commits: CommitFaultProxy;
  /** Proxy between all services and the first data plane's API. */
  readonly dataPlane: FaultProxy;
  readonly dataPlanes: readonly DataPlane[];
  stop(): Promise<void>;
}

export async function startControlPlane(
  replicas: number,
  { dataPlanes: names = [], admin = {}, ...options }: ControlPlaneOptions = {},
): Promise<ControlPlane> {
  const own = names.length > 0;
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-control-plane-"));
  const {
    propeller = {},
    plugins: pluginNames = [own ? "pod" : "echo"],
    dataPlaneReplicas = 1,
    blobs = join(folder, "blobs"),
    postgres: startDatabase = () => postgresFixture({ durable: true }),
    prepare,
    kubernetes,
  } = options;
  const stops: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (const step of stops.splice(0).reverse()) await step();
  };
  const onStop = async <Part extends { stop(): Promise<void> }>(starting: Promise<Part>): Promise<Part> => {
    const part = await starting;
    stops.push(() => part.stop());
    return part;
  };
  try {
    const [postgres, nats] = await Promise.all([onStop(startDatabase()), onStop(natsFixture())]);
    const commits = await onStop(startCommitFaultProxy(postgres.url));
    const [blobPort, blobOps] = await Promise.all([freePort(), freePort()]);
    const s3 = { endpoint: `http://127.0.0.1:${blobPort}`, region: "us-east-1", ...BLOB_KEY };
    const startCluster = async (name: string): Promise<Pick<DataPlane, "name" | "kubeconfig" | "api">> => {
      if (kubernetes !== undefined) return { name, kubeconfig: kubernetes.kubeconfig, api: await onStop(startFaultProxy(kubernetes)) };
      const [port, dataDir] = [await freePort(), join(folder, name)];
      const config = { port, dataDir, podsOnStop: "kill" };
      await onStop(startService({ name: `local-cluster-${name}`, service: "local-cluster", folder, readyPort: port, config }));
      const kubeconfig = join(dataDir, "kubeconfig");
      const address = /server: (\S+)/.exec(readFileSync(kubeconfig, "utf8"))?.[1] ?? "";
      return { name, kubeconfig, api: await onStop(startFaultProxy({ url: address })) };
    };
    const [clusters] = await Promise.all([
      Promise.all((names.length === 0 ? ["local"] : names).map(startCluster)),
      onStop(
        startService({
          name: "local-blobstore",
          service: "local-blobstore",
          folder,
          readyPort: blobOps,
          config: { ops: { port: blobOps }, port: blobPort, dataDir: blobs, ...BLOB_KEY, buckets: ["my-s3-bucket"] },
        }),
      ),
    ]);
    await prepare?.(
      postgres.url,
      clusters.map(({ kubeconfig }) => kubeconfig),
    );
    const service = async (name: string, settings: { readonly service: string; readonly config: object }) => {
      const readyPort = await freePort();
      const config = { ops: { port: readyPort }, nats: { url: nats.url }, ...settings.config };
      return onStop(startService({ name, service: settings.service, folder, readyPort, config }));
    };
    // Start them concurrently: the first one migrates the database, the others wait for it.
    const admins = await Promise.all(
      Array.from({ length: replicas }, async (_, index): Promise<AdminReplica> => {
        const api = await freePort();
        const config = {
          server: { host: "127.0.0.1", grpcPort: api, httpPort: api },
          database: { url: commits.url },
          storage: { container: "s3://my-s3-bucket", s3 },
          clusters: clusters.map(({ name, api: { kubeconfig } }) => ({ name, kubeconfig })),
          ...admin,
        };
        return { api, process: await service(`admin-${index}`, { service: "admin", config }) };
      }),
    );
    const replicated = <Part>(start: (index: number) => Promise<Part>) =>
      Promise.all(Array.from({ length: dataPlaneReplicas }, (_, index) => start(index)));
    const startDataPlane = async (started: (typeof clusters)[number]): Promise<DataPlane> => {
      const { name, api } = started;
      const { kubeconfig } = api;
      const cluster = own ? name : "";
      const propellerConfig = {
        cluster,
        kubernetes: { kubeconfig },
        admin: { endpoint: `127.0.0.1:${admins[0]?.api}` },
        storage: { s3 },
        ...propeller,
      };
      const pluginConfigs: Readonly<Record<TaskPlugin, object>> = {
        echo: { cluster },
        pod: { cluster, kubernetes: { kubeconfig }, storage: { s3 } },
      };
      const startPlugin = async (plugin: TaskPlugin) => {
        const config = { logLevel: "debug", ...pluginConfigs[plugin] };
        return [
          plugin,
          await replicated((index) => service(`plugin-${plugin}-${name}-${index}`, { service: `plugins/${plugin}`, config })),
        ] as const;
      };
      const [propellers, plugins] = await Promise.all([
        replicated((index) => {
          const config = { shards: { slot: `propeller-${index}`, leaseMs: 60_000 }, ...propellerConfig };
          return service(`propeller-${name}-${index}`, { service: "propeller", config });
        }),
        Promise.all(pluginNames.map(startPlugin)),
      ]);
      return { ...started, propellers, plugins: Object.fromEntries(plugins) };
    };
    const dataPlanes = await Promise.all(clusters.map(startDataPlane));
    const [first] = dataPlanes;
    if (first === undefined) throw new Error("a control plane without a data plane has nothing to do");
    return { admins, postgres, nats, commits, dataPlane: first.api, dataPlanes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
