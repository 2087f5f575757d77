import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EVENT_STREAM } from "@flyte-ts/bus-contract";
import { freePort } from "@flyte-ts/host";
import { type LocalServer, startNats } from "@flyte-ts/local-servers";
import { type Bus, connectBus } from "@flyte-ts/messaging";
import { createLogger } from "@flyte-ts/telemetry";
import { testWatchdog } from "@flyte-ts/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../repository.js";
import { kubernetesFolder } from "./manifests.js";

// Runs the NATS servers of deploy/kubernetes/nats with its own configuration and Secrets. Only
// addresses are replaced: pods have names and the same ports, processes have one address.
const SERVERS = [0, 1, 2];

interface Secret {
  readonly metadata: { readonly name: string };
  readonly stringData: Readonly<Record<string, string>>;
}

const folder = mkdtempSync(join(tmpdir(), "flyte-ts-nats-cluster-"));
const servers: LocalServer[] = [];
let bus: Bus | undefined;
let monitorPorts: readonly number[];
/** Addresses of the Secret `flyte-bus`, by service. */
let addresses: Readonly<Record<string, string>>;

beforeAll(async () => {
  const list = execFileSync("node", [join(root, "deploy", "bus", "cluster-secrets.mjs")], { encoding: "utf8" });
  const { items } = JSON.parse(list) as { readonly items: readonly Secret[] };
  const secret = (name: string) => items.find(({ metadata }) => metadata.name === name)?.stringData ?? {};
  const ports = await Promise.all(
    SERVERS.map(async () => ({ client: await freePort(), route: await freePort(), monitor: await freePort() })),
  );
  monitorPorts = ports.map(({ monitor }) => monitor);
  const here = (text: string) =>
    ports.reduce(
      (replaced, { client, route }, index) =>
        replaced
          .replaceAll(`flyte-nats-${index}.flyte-nats:4222`, `127.0.0.1:${client}`)
          .replaceAll(`flyte-nats-${index}.flyte-nats:6222`, `127.0.0.1:${route}`),
      text,
    );
  for (const [index, { route, monitor }] of ports.entries()) {
    const own = join(folder, `flyte-nats-${index}`);
    mkdirSync(own);
    const config = readFileSync(join(kubernetesFolder, "nats", "nats.conf"), "utf8");
    const local = config.replace("$POD_NAME", `flyte-nats-${index}`).replace("0.0.0.0:8222", `127.0.0.1:${monitor}`);
    // The fixture sets the folder of the streams.
    writeFileSync(join(own, "nats.conf"), local.replace("store_dir: /data", ""));
    const secrets = secret("flyte-nats")["secrets.conf"] ?? "";
    writeFileSync(join(own, "secrets.conf"), here(secrets).replace("0.0.0.0:6222", `127.0.0.1:${route}`));
  }
  const started = ports.map(({ client }, index) => {
    const own = join(folder, `flyte-nats-${index}`);
    return startNats({ dataDir: join(own, "data"), args: ["-c", join(own, "nats.conf")], port: client, watchdog: testWatchdog() });
  });
  servers.push(...(await Promise.all(started)));
  addresses = Object.fromEntries(Object.entries(secret("flyte-bus")).map(([user, url]) => [user, here(url)]));
});
afterAll(async () => {
  await bus?.close();
  await Promise.all(servers.map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
});

interface StreamDetail {
  readonly name: string;
  readonly cluster: { readonly replicas: readonly { readonly name: string }[] };
}

/** Reads the streams of a server from its monitoring. */
async function streamsOf(port: number): Promise<readonly StreamDetail[]> {
  const response = await fetch(`http://127.0.0.1:${port}/jsz?streams=true`);
  const { account_details: accounts = [] } = (await response.json()) as {
    readonly account_details?: readonly { readonly stream_detail: readonly StreamDetail[] }[];
  };
  return accounts.flatMap(({ stream_detail: streams }) => streams);
}

test("the servers form one cluster, and a service keeps a stream on three of them", async () => {
  const logger = createLogger({ service: "test", level: "silent" });
  bus = await connectBus({ url: addresses["admin"] ?? "", name: "admin", logger, streamReplicas: SERVERS.length });
  await bus.ensureStream(EVENT_STREAM);
  for (const [index, port] of monitorPorts.entries()) {
    const others = async () => {
      const copy = (await streamsOf(port)).find(({ name }) => name === EVENT_STREAM.name);
      return (copy?.cluster.replicas ?? []).map(({ name }) => name).toSorted((a, b) => a.localeCompare(b));
    };
    await expect.poll(others).toEqual(SERVERS.filter((other) => other !== index).map((other) => `flyte-nats-${other}`));
  }
});

/** Signs in by the protocol of NATS. Resolves to the server's answers. */
function signIn(url: string, password: string): Promise<string> {
  const { hostname, port, username } = new URL(url);
  return new Promise((resolve, reject) => {
    let answers = "";
    const socket = connect(Number(port), hostname);
    socket.on("data", (data) => {
      answers += data.toString();
      if (/PONG|-ERR/.test(answers)) socket.end();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(answers));
    const options = { verbose: false, pedantic: false, user: username, pass: password, lang: "test", version: "0", protocol: 1 };
    socket.write(`CONNECT ${JSON.stringify(options)}\r\nPING\r\n`);
  });
}

test("every service has an address with a password of its own, and a wrong one is refused", async () => {
  const users = JSON.parse(readFileSync(join(root, "deploy", "bus", "users.json"), "utf8")) as object;
  expect(Object.keys(addresses)).toEqual(Object.keys(users));
  const urls = Object.values(addresses).map((list) => list.split(",")[0] ?? "");
  const passwords = urls.map((url) => new URL(url).password);
  expect(new Set(passwords).size).toBe(passwords.length);
  expect(await signIn(urls[0] ?? "", passwords[0] ?? "")).toMatch(/PONG/);
  expect(await signIn(urls[0] ?? "", "guessed")).toMatch(/Authorization Violation/);
});
