import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "@flyte-ts/local-servers";
import { natsFixture, postgresFixture } from "@flyte-ts/testing";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");

/** Admin with a database, a bus and a blob store of its own and no data plane: executions stay as requests leave them. */
export interface RunningAdmin {
  /** One port for gRPC and REST. */
  readonly api: number;
  readonly databaseUrl: string;
  readonly configFile: string;
  /** Bytes of memory that admin's process holds. */
  residentBytes(): number;
  /** What admin has logged, line by line. */
  log(): string[];
  /** Ends everything; rejects when admin had ended before or ended badly. */
  stop(): Promise<void>;
}

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
    const key = { accessKeyId: "minio", secretAccessKey: "miniostorage" };
    await keep(
      startService({
        name: "local-blobstore",
        folder,
        opsPort: blobOps,
        config: { port: blobs, dataDir: join(folder, "blobs"), ...key, buckets: ["my-s3-bucket"] },
      }),
    );
    const admin = await keep(
      startService({
        name: "admin",
        folder,
        opsPort: adminOps,
        config: {
          server: { host: "127.0.0.1", grpcPort: api, httpPort: api },
          database: { url: postgres.url },
          nats: { url: nats.url },
          storage: { container: "s3://my-s3-bucket", s3: { endpoint: `http://127.0.0.1:${blobs}`, region: "us-east-1", ...key } },
          taskResources: { defaults: { cpu: "500m", memory: "500Mi" }, limits: { cpu: "4", memory: "4Gi", gpu: "1" } },
          registration: { maxWorkflowNodes: 100_000 },
          ...more(api),
        },
      }),
    );
    return { api, databaseUrl: postgres.url, configFile: admin.configFile, residentBytes: admin.residentBytes, log: admin.log, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface ServiceSpec {
  readonly name: "admin" | "local-blobstore";
  readonly folder: string;
  readonly opsPort: number;
  readonly config: object;
}

async function startService({ name, folder, opsPort, config }: ServiceSpec) {
  const configFile = join(folder, `${name}.yaml`);
  // JSON is YAML.
  writeFileSync(configFile, JSON.stringify({ logLevel: "info", ops: { host: "127.0.0.1", port: opsPort }, ...config }));
  const program = join(root, "services", name, "dist", "main.js");
  const child = spawn(process.execPath, ["--enable-source-maps", program, "--config", configFile], {
    stdio: ["ignore", "pipe", "pipe"],
    // A session of its own: Ctrl-C reaches the caller alone, who stops what it started.
    detached: true,
  });
  const { lines, ended } = follow(child);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const stop = async () => {
    const early = hasEnded();
    if (!early) child.kill("SIGTERM");
    if ((await Promise.race([ended.then(() => true), sleep(15_000, false, { ref: false })])) === false) child.kill("SIGKILL");
    const how = await ended;
    if (early || how !== "status 0")
      throw new Error(`${name} ended ${early ? "by itself " : ""}with ${how}:\n${lines.slice(-30).join("\n")}`);
  };
  for (const deadline = Date.now() + 60_000; !(await isReady(opsPort)); await sleep(30)) {
    if (!hasEnded() && Date.now() < deadline) continue;
    child.kill("SIGKILL");
    throw new Error(`${name} did not become ready:\n${lines.slice(-30).join("\n")}`);
  }
  return {
    configFile,
    stop,
    log: () => [...lines],
    residentBytes: () => Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) * 1024,
  };
}

async function isReady(opsPort: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${opsPort}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
    async (response) => {
      await response.text();
      return response.ok;
    },
    () => false,
  );
}

function follow(child: ChildProcess): { lines: string[]; ended: Promise<string> } {
  const lines: string[] = [];
  let rest = "";
  const keep = (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  const ended = new Promise<string>((done) => {
    child.once("error", (error) => done(error.message));
    child.once("exit", (code, signal) => done(signal ?? `status ${code}`));
  });
  return { lines, ended };
}
