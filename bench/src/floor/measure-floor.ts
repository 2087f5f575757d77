import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startNats, startPostgres } from "@flyte-ts/local-servers";
import { connectBus } from "@flyte-ts/messaging";
import { createPool } from "@flyte-ts/postgres";
import { createLogger } from "@flyte-ts/telemetry";
import { ProcessTree } from "../memory.js";
import { FLOOR_EVENTS, FLOOR_REQUESTS, FLOOR_TABLE, type FloorMessage, type FloorRole } from "./floor-contract.js";

export interface FloorMeasurement {
  readonly leaves: number;
  /** Time from the first request until each leaf has its row, s. */
  readonly seconds: number;
  /** Processor time by process, s. */
  readonly cpu: Readonly<Record<FloorRole | "nats" | "postgres", number>>;
  readonly cpuSeconds: number;
}

const WORKER = fileURLToPath(new URL("./floor-worker.js", import.meta.url));
/** Longest time for which a stream keeps messages, ms. */
const MAX_AGE_MS = 3_600_000;

/**
 * Measures the least that a fan-out costs with these servers: one request and one event per leaf
 * over JetStream, and one row. Servers and streams are those of the local stack.
 */
export async function measureFloor(leaves: number): Promise<FloorMeasurement> {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-bench-floor-"));
  const logger = createLogger({ service: "floor", level: "warn" });
  const [nats, postgres] = await Promise.all([
    startNats({ dataDir: join(folder, "nats") }),
    startPostgres({ dataDir: join(folder, "postgres") }),
  ]);
  const workers: ChildProcess[] = [];
  try {
    const bus = await connectBus({ url: nats.url, name: "floor", logger });
    for (const { stream, subject } of [FLOOR_REQUESTS, FLOOR_EVENTS])
      await bus.ensureStream({ name: stream, subjects: [subject], retention: "interest", maxAgeMs: MAX_AGE_MS });
    const db = createPool({ url: postgres.url, logger, maxConnections: 1 });
    await db.query({ text: FLOOR_TABLE });
    await db.close();
    const start = (role: FloorRole) => {
      const worker = fork(WORKER, [role, nats.url, postgres.url, String(leaves)]);
      workers.push(worker);
      return worker;
    };
    const consumers = { plugin: start("plugin"), recorder: start("recorder") };
    const roles = { ...consumers, engine: start("engine") };
    const before = await forEachRole(roles, "ready");
    const servers = { nats: new ProcessTree(nats.pid), postgres: new ProcessTree(postgres.pid) };
    const serverCpu = { nats: servers.nats.cpuSeconds(), postgres: servers.postgres.cpuSeconds() };
    const begun = performance.now();
    const ending = forEachRole(roles, "done");
    roles.engine.send("begin");
    const after = await ending;
    const seconds = (performance.now() - begun) / 1_000;
    await bus.close();
    const cpu = {
      engine: round(after.engine - before.engine),
      plugin: round(after.plugin - before.plugin),
      recorder: round(after.recorder - before.recorder),
      nats: round(servers.nats.cpuSeconds() - serverCpu.nats),
      postgres: round(servers.postgres.cpuSeconds() - serverCpu.postgres),
    };
    return { leaves, seconds: round(seconds), cpu, cpuSeconds: round(Object.values(cpu).reduce((sum, part) => sum + part, 0)) };
  } finally {
    for (const worker of workers) if (worker.exitCode === null) worker.kill("SIGKILL");
    await Promise.all([nats.stop(), postgres.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

const round = (seconds: number): number => Math.round(seconds * 100) / 100;

/** Waits until each process is in the state. Resolves to their processor times, s. */
async function forEachRole(
  roles: Readonly<Record<FloorRole, ChildProcess>>,
  state: FloorMessage["state"],
): Promise<Readonly<Record<FloorRole, number>>> {
  const times = await Promise.all(
    Object.entries(roles).map(async ([role, worker]) => {
      const message = await new Promise<FloorMessage>((resolve, reject) => {
        worker.once("message", (received: FloorMessage) => resolve(received));
        worker.once("exit", (code) => reject(new Error(`the ${role} of the floor exited with status ${code}`)));
      });
      if (message.state !== state) throw new Error(`the ${role} of the floor is ${message.state} instead of ${state}`);
      return [role, message.cpuSeconds] as const;
    }),
  );
  return Object.fromEntries(times) as Record<FloorRole, number>;
}
