import { busServices } from "@flyte-ts/service-manifest";
import { expect, test } from "vitest";
import { localBlobStore } from "./blob-store.js";
import { localCluster } from "./cluster.js";
import type { StackCredentials } from "../state/credentials.js";
import { stackPaths } from "../state/paths.js";
import { infrastructureServices, applicationServices } from "./service-configs.js";
import { stackServices } from "./stack-services.js";

const services = await stackServices({ services: [], pluginFolders: [] });
const busUsers = busServices(services.map(({ manifest }) => manifest)).map(({ id }) => id);

const credentials: StackCredentials = {
  blobKeyId: "the-blob-key-id",
  blobSecretKey: "the-blob-secret",
  clusterToken: "the-cluster-token",
  clusterLogToken: "the-log-token",
  bus: Object.fromEntries(busUsers.map((user) => [user, `password-of-${user}`])),
};

function configsOf(hasNodes: boolean, running = services): Readonly<Record<string, string>> {
  const folders = stackPaths("/data");
  const ops = Object.fromEntries(
    [...services.map(({ manifest }) => manifest.id), "local-cluster", "local-blobstore"].map((name) => [name, 1]),
  );
  const facts = {
    credentials,
    endpoints: { host: "127.0.0.1", api: 2, blobs: 3, cluster: 4, catalog: 5, ops },
    cluster: { ...localCluster(folders.kubeconfig, 4, credentials), hasNodes },
    blobs: localBlobStore({ host: "127.0.0.1", port: 3 }, "bucket", credentials),
    folders,
    sharedPythonBin: "/python/bin",
    logLevel: "info",
    bundles: false,
    propellers: 1,
    signIn: undefined,
    services: running,
  };
  const servers = { databaseUrl: "postgres://flyte:the-database-password@127.0.0.1:6/postgres", natsUrl: "nats://127.0.0.1:7" };
  const all = [...infrastructureServices(facts), ...applicationServices(facts, servers)];
  return Object.fromEntries(all.map(({ name, config }) => [name, JSON.stringify(config)]));
}

test("each service gets the secrets that it needs, and no others", () => {
  const configs = configsOf(false);
  const knownTo = (secret: string) => Object.keys(configs).filter((name) => configs[name]?.includes(secret));
  for (const user of busUsers) expect(knownTo(`password-of-${user}`)).toEqual([user]);
  expect(knownTo("the-cluster-token")).toEqual(["local-cluster"]);
  expect(knownTo("the-log-token")).toEqual(["local-cluster", "plugin-pod"]);
  expect(knownTo("the-database-password")).toEqual(["admin", "datacatalog", "scheduler"]);
  expect(knownTo("the-blob-secret")).toEqual(["local-blobstore", "local-cluster", "admin", "datacatalog", "propeller", "plugin-pod"]);
});

test("copilot closes its files to others where task and copilot run as one user, and not on nodes, where they may differ", () => {
  const withUmask = (hasNodes: boolean) =>
    Object.entries(configsOf(hasNodes)).flatMap(([name, config]) => (config.includes("FLYTE_COPILOT_UMASK") ? [name] : []));
  expect(withUmask(false)).toEqual(["local-cluster"]);
  expect(withUmask(true)).toEqual([]);
});

test("signed URLs contain the host name that users configured", () => {
  const { admin = "{}" } = configsOf(false);
  const found = [...admin.matchAll(/"publicEndpoint":"([^"]*)"/g)].map(([, endpoint]) => endpoint);
  expect(new Set(found)).toEqual(new Set(["http://localhost:3"]));
});

test("Spark, Ray and Dask tasks run as one pod, unless another service of the stack runs them", () => {
  const onePod = (hasNodes: boolean, running = services) =>
    (JSON.parse(configsOf(hasNodes, running)["plugin-pod"] ?? "{}") as { onePod: { taskTypes: string[]; installCommand?: string[] } })
      .onePod;
  expect(onePod(false).taskTypes).toEqual(["spark", "ray", "dask"]);
  expect(onePod(false).installCommand?.slice(-2)).toEqual(["/data", "--extra"]);
  expect(onePod(true).installCommand).toBeUndefined();
  const operator = services.flatMap((service) =>
    service.manifest.id === "plugin-echo" ? [{ ...service, manifest: { ...service.manifest, taskTypes: ["ray"] } }] : [],
  );
  expect(onePod(false, [...services.filter(({ manifest }) => manifest.id !== "plugin-echo"), ...operator]).taskTypes).toEqual([
    "spark",
    "dask",
  ]);
});
