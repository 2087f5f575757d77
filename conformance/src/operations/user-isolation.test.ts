import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createBlobStore } from "@flyte-ts/blobstore";
import { Code, createClient, createFlyteClient, openChannel, RpcError } from "@flyte-ts/client";
import { DataCatalog } from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import { connectBus } from "@flyte-ts/messaging";
import { createPool } from "@flyte-ts/postgres";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listeningSockets, socketsOf } from "../stack/sockets.js";
import { processesOf, type RunningStack, startStack } from "../stack/stack-fixture.js";

// Checks that another user of the machine can access nothing of a stack with --auth, neither its
// files nor its listeners.

/**
 * Users without any relation to the stack; when root starts the stack, the database runs as the
 * second one.
 */
const OTHER_USERS = [61_234, 65_534];
const logger = createLogger({ service: "test", level: "silent" });

interface Ports {
  readonly api: number;
  readonly blobs: number;
  readonly cluster: number;
  readonly postgres: number;
  readonly nats: number;
  readonly catalog: number;
  readonly ops: Readonly<Record<string, number>>;
}

let stack: RunningStack;
let ports: Ports;
beforeAll(async () => {
  stack = await startStack(["--auth"]);
  ports = JSON.parse(readFileSync(join(stack.folder, "config", "ports.json"), "utf8")) as Ports;
  // Wait for the example, which leaves pod folders, logs and blobs.
  while (!/training_workflow (SUCCEEDED|FAILED)/.test(stack.output())) await sleep(200);
  if (!stack.output().includes("training_workflow SUCCEEDED")) throw new Error(stack.output());
}, 300_000);
afterAll(async () => {
  await stack.stop();
}, 60_000);

/** Runs a program as another user. Returns its output, including stderr. */
function runAsOtherUser(uid: number, program: string, args: readonly string[]): string {
  const words = [`--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", "sh", "-c", '"$@" 2>&1 || true', "sh", program, ...args];
  return execFileSync("setpriv", words, { encoding: "utf8", cwd: "/" });
}

test("files of the stack are accessible to its user only", () => {
  // Tasks extract their code with the file modes of the archive, in folders that only their owner
  // can enter.
  const unpacked = join(stack.folder, "cluster", "pods", "*", "root", "*");
  const open = execFileSync("find", [stack.folder, "-not", "-type", "l", "-perm", "/077", "-not", "-path", unpacked], { encoding: "utf8" });
  expect(open).toBe("");
});

const asRoot = process.getuid?.() === 0;
test.skipIf(!asRoot)("another user can read no files and processes of the stack (needs root to change users)", () => {
  for (const uid of OTHER_USERS) {
    expect(runAsOtherUser(uid, "find", [stack.folder]).split("\n")).toEqual([stack.folder, expect.stringMatching(/Permission denied/), ""]);
    expect(runAsOtherUser(uid, "cat", [join(stack.folder, "credentials.json")])).toMatch(/Permission denied/);
    for (const { pid } of processesOf(stack.folder))
      expect(runAsOtherUser(uid, "cat", [`/proc/${pid}/environ`])).toMatch(/Permission denied|No such/);
  }
});

test("no command line shows a secret", () => {
  const kept = JSON.parse(readFileSync(join(stack.folder, "credentials.json"), "utf8")) as Record<string, string>;
  const folder = join(stack.folder, "secrets");
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const secrets = [...Object.values(kept), ...files.map(({ name }) => readFileSync(join(folder, name), "utf8").trim())];
  expect(secrets.length).toBeGreaterThan(8);
  for (const { command } of processesOf(stack.folder)) expect(secrets.filter((secret) => command.includes(secret))).toEqual([]);
});

test("every listener is on loopback and checked by this test", () => {
  const known = [ports.api, ports.blobs, ports.cluster, ports.postgres, ports.nats, ports.catalog, ...Object.values(ports.ops)];
  const listeners = listenersOf(processesOf(stack.folder).map(({ pid }) => pid));
  expect(listeners.length).toBeGreaterThan(8);
  for (const { address, port } of listeners) {
    expect(address).toBe("127.0.0.1");
    expect(known).toContain(port);
  }
});

test("gRPC of the API and of the data catalog refuses calls without a token", async () => {
  const client = createFlyteClient({ endpoint: `127.0.0.1:${ports.api}` });
  const channel = openChannel({ endpoint: `127.0.0.1:${ports.catalog}` });
  const catalog = createClient({ channel, service: DataCatalog });
  const dataset = { project: "flytesnacks", domain: "development", name: "planted", version: "1" };
  try {
    const ends = await Promise.allSettled([
      client.admin.listProjects({}),
      client.admin.createTask({ id: { project: "flytesnacks", domain: "development", name: "t", version: "1" } }),
      client.admin.createExecution({ project: "flytesnacks", domain: "development" }),
      catalog.listDatasets({}),
      catalog.createDataset({ dataset: { id: dataset } }),
    ]);
    expect(ends.map(codeOf)).toEqual(ends.map(() => Code.UNAUTHENTICATED));
  } finally {
    client.close();
    channel.close();
  }
});

const codeOf = (end: PromiseSettledResult<unknown>) =>
  end.status === "rejected" && end.reason instanceof RpcError ? end.reason.code : end;

test.each([
  ["api", "GET", "/api/v1/projects", 401],
  ["api", "POST", "/api/v1/tasks", 401],
  ["api", "POST", "/api/v1/executions", 401],
  ["blobs", "GET", "/", 403],
  ["blobs", "GET", "/my-s3-bucket?list-type=2", 403],
  ["blobs", "GET", "/my-s3-bucket/metadata", 403],
  ["blobs", "PUT", "/my-s3-bucket/planted", 403],
  ["blobs", "DELETE", "/my-s3-bucket", 403],
  ["cluster", "GET", "/api/v1/pods", 401],
  ["cluster", "GET", "/api/v1/secrets", 401],
  ["cluster", "GET", "/apis/flyte.lyft.com/v1alpha1/flyteworkflows", 401],
  ["cluster", "GET", "/api/v1/namespaces/flytesnacks-development/pods?watch=true", 401],
  ["cluster", "POST", "/api/v1/namespaces/default/pods", 401],
  ["cluster", "DELETE", "/api/v1/namespaces/flytesnacks-development", 401],
] as const)("HTTP of the %s: %s %s answers %d without credentials", async (port, method, path, status) => {
  const body = method === "POST" || method === "PUT" ? { body: "{}", headers: { "content-type": "application/json" } } : {};
  const answer = await fetch(`http://127.0.0.1:${ports[port]}${path}`, { method, ...body });
  expect(answer.status).toBe(status);
});

test("the blob store accepts the stack's keys and refuses those of Flyte's sandbox", async () => {
  const kept = JSON.parse(readFileSync(join(stack.folder, "credentials.json"), "utf8")) as { blobKeyId: string; blobSecretKey: string };
  const put = async (accessKeyId: string, secretAccessKey: string) => {
    const store = createBlobStore({ s3: { endpoint: `http://127.0.0.1:${ports.blobs}`, accessKeyId, secretAccessKey }, azure: {} });
    try {
      return await store.put("s3://my-s3-bucket/planted", Buffer.from("code"));
    } finally {
      store.close();
    }
  };
  await expect(put("minio", "miniostorage")).rejects.toThrow(/InvalidAccessKeyId|SignatureDoesNotMatch|403/);
  await expect(put(kept.blobKeyId, "miniostorage")).rejects.toThrow(/SignatureDoesNotMatch|403/);
  expect(await put(kept.blobKeyId, kept.blobSecretKey)).toBe("written");
});

test("the token in links to logs gives access to logs only", async () => {
  const config = readFileSync(join(stack.folder, "config", "plugin-pod.yaml"), "utf8");
  const token = /127\.0\.0\.1:\d+\/([0-9a-f]+)\/api/.exec(config)?.[1] ?? "";
  const get = (path: string, method = "GET") => fetch(`http://127.0.0.1:${ports.cluster}/${token}${path}`, { method });
  const pods = "/api/v1/namespaces/flytesnacks-development/pods";
  expect((await get(pods)).status).toBe(401);
  expect((await get(`${pods}/p/exec`)).status).toBe(401);
  expect((await get(`${pods}/p/log`, "DELETE")).status).toBe(401);
  expect((await get(`${pods}/p/log`)).status).toBe(404);
});

test("the bus and the database refuse connections without a password", async () => {
  await expect(connectBus({ url: `nats://127.0.0.1:${ports.nats}`, name: "test", logger })).rejects.toThrow(/authorization/i);
  for (const user of ["flyte:flyte", "postgres:postgres", "flyte:"]) {
    const pool = createPool({ url: `postgres://${user}@127.0.0.1:${ports.postgres}/flyteadmin`, logger });
    await expect(pool.query({ text: "SELECT 1" })).rejects.toThrow(/password|role/);
    await pool.close();
  }
});

test("ops listeners serve only health and metrics", async () => {
  for (const port of new Set(listenersOf(processesOf(stack.folder).map(({ pid }) => pid)).map((listener) => listener.port))) {
    if (!Object.values(ports.ops).includes(port)) continue;
    for (const path of ["/", "/api/v1/projects", "/debug/pprof", "/config"]) {
      const { status } = await fetch(`http://127.0.0.1:${port}${path}`);
      expect([port, path, status]).toEqual([port, path, 404]);
    }
  }
});

/** TCP sockets on which processes listen. */
function listenersOf(pids: readonly number[]): { address: string; port: number }[] {
  const inodes = new Set(pids.flatMap(socketsOf));
  return listeningSockets()
    .filter(({ inode }) => inodes.has(inode))
    .map(({ address, port }) => ({ address: address === "0100007F" ? "127.0.0.1" : address, port }));
}
