import { setTimeout as sleep } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { createFlyteClient } from "@flyte-ts/client";
import { ExecutionCreateRequestSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { WorkflowExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { StackMemory, type MemoryUse } from "../memory.js";
import { Connection, framed } from "../rate/connection.js";
import { readStackConfig } from "../rate/stack-config.js";
import { withDatabase } from "../rate/parse-args.js";
import { creationRequest, register } from "../run-workload.js";
import { followExecutions } from "./execution-events.js";

export interface SoakOptions {
  readonly endpoint: string;
  readonly project: string;
  readonly domain: string;
  /** Folder of the stack's state. */
  readonly dataDir: string;
  /** Number of executions, a multiple of ten. */
  readonly executions: number;
  /** Time for which retention keeps an ended execution, s. */
  readonly keepSeconds: number;
  /** Longest time without the end of any execution, ms. */
  readonly timeoutMs: number;
  /** Called after each tenth of the executions. */
  readonly onTenth: (tenth: SoakTenth) => void;
}

/** Figures of a tenth of the executions. */
export interface SoakTenth {
  /** Executions that have ended since the start. */
  readonly ended: number;
  readonly seconds: number;
  /** Ended executions per second. */
  readonly rate: number;
  /** Latency of CreateExecution, ms. */
  readonly create: Quantiles;
  /** Time from the call until propeller has started the execution, ms. */
  readonly queue: Quantiles;
  readonly memory: MemoryUse;
  /** Size of admin's database, MiB. */
  readonly databaseMib: number;
  /** Executions that retention has deleted since the start. */
  readonly deleted: number;
}

export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
}

/** Number of executions, counted in three ways that must agree. */
export interface SoakCounts {
  /** Calls of CreateExecution that were answered with OK. */
  readonly accepted: number;
  /** Executions whose success propeller has published on the bus. */
  readonly succeeded: number;
  /** Rows of succeeded executions in admin's database, and deleted ones. */
  readonly recorded: number;
}

const WORKLOAD = { topology: "chain", size: 3, taskKind: "echo", sleepSeconds: 0 } as const;
/** Executions that run at the same time. */
const WINDOW = 256;
const CONNECTIONS = 8;
const PATH = "/flyteidl.service.AdminService/CreateExecution";

/** An execution that has not ended. */
interface Running {
  readonly createdAtMs: number;
  started: boolean;
  readonly end: () => void;
}

/**
 * Runs chains of three tasks, as many at a time as the stack ends at once, with retention. Rejects
 * when no execution ends for the timeout, or a call fails.
 */
export async function measureSoak(options: SoakOptions): Promise<SoakCounts> {
  const { endpoint, project, domain, dataDir, executions, timeoutMs } = options;
  const run = Date.now().toString(36);
  const client = createFlyteClient({ endpoint });
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => Connection.open(endpoint)));
  const running = new Map<string, Running>();
  const figures = new Figures(options);
  let succeeded = 0;
  const stopFollowing = await followExecutions(readStackConfig(dataDir).busUrl, {
    onEvent: ({ name, phase, occurredAtMs }) => {
      const execution = running.get(name);
      if (execution === undefined) return;
      if (!execution.started) figures.queue.push(occurredAtMs - execution.createdAtMs);
      execution.started = true;
      if (phase < Phase.SUCCEEDED) return;
      running.delete(name);
      if (phase === Phase.SUCCEEDED) succeeded++;
      figures.onEnd();
      execution.end();
    },
  });
  try {
    await keepEndedExecutions(options);
    const launchPlan = await register(client, { project, domain, ...WORKLOAD });
    const request = creationRequest(launchPlan, { project, domain, ...WORKLOAD });
    let next = 0;
    let accepted = 0;
    const caller = async (index: number): Promise<void> => {
      while (next < executions) {
        const name = `s${run}x${next++}`;
        const createdAtMs = Date.now();
        const ended = new Promise<void>((resolve, reject) => {
          const timer = setTimeout(() => reject(new Error(`${name} has not ended within ${timeoutMs} ms`)), timeoutMs);
          running.set(name, {
            createdAtMs,
            started: false,
            end: () => {
              clearTimeout(timer);
              resolve();
            },
          });
        });
        ended.catch(() => undefined);
        const begun = performance.now();
        const message = framed(toBinary(ExecutionCreateRequestSchema, create(ExecutionCreateRequestSchema, { ...request, name })));
        await (connections[index % CONNECTIONS] as Connection).call(PATH, message);
        figures.create.push(performance.now() - begun);
        accepted++;
        await ended;
      }
    };
    await Promise.all(Array.from({ length: Math.min(WINDOW, executions) }, (_, index) => caller(index)));
    await figures.settled;
    return { accepted, succeeded, recorded: await countRecorded(options, run) };
  } finally {
    await stopFollowing();
    for (const connection of connections) connection.close();
    client.close();
  }
}

/** Sets the policy by which admin deletes the executions of this run. */
async function keepEndedExecutions({ endpoint, project, domain, keepSeconds }: SoakOptions): Promise<void> {
  const answer = await fetch(`http://${endpoint}/api/v1/retention_policies`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ policy: { project, domain, keep: `${keepSeconds}s` } }),
  });
  if (!answer.ok) throw new Error(`the retention policy is refused: ${answer.status} ${await answer.text()}`);
}

/** Collects the figures of one tenth after the other. */
class Figures {
  create: number[] = [];
  queue: number[] = [];
  /** Resolves when all tenths were reported. */
  settled: Promise<void> = Promise.resolve();
  readonly #memory: StackMemory;
  #ended = 0;
  #begunAt = performance.now();

  constructor(private readonly options: SoakOptions) {
    this.#memory = new StackMemory(options.dataDir);
  }

  onEnd(): void {
    this.#ended++;
    const size = this.options.executions / 10;
    if (this.#ended % size !== 0) return;
    const seconds = (performance.now() - this.#begunAt) / 1_000;
    this.#begunAt = performance.now();
    const measured = {
      ended: this.#ended,
      seconds: round(seconds),
      rate: Math.round(size / seconds),
      create: quantiles(this.create),
      queue: quantiles(this.queue),
      memory: this.#memory.read(),
    };
    this.create = [];
    this.queue = [];
    this.settled = this.settled.then(async () => {
      const { dataDir, onTenth } = this.options;
      onTenth({ ...measured, databaseMib: await databaseMib(dataDir), deleted: await deletedCount(dataDir) });
    });
  }
}

function quantiles(times: number[]): Quantiles {
  const sorted = times.sort((a, b) => a - b);
  const at = (part: number) => round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0);
  return { p50: at(0.5), p99: at(0.99) };
}

const round = (value: number): number => Math.round(value * 10) / 10;

async function databaseMib(dataDir: string): Promise<number> {
  return withDatabase(dataDir, async (db) => {
    const { rows } = await db.query<{ bytes: bigint }>({ text: "SELECT pg_database_size(current_database()) AS bytes" });
    return Math.round(Number(rows[0]?.bytes ?? 0n) / 1024 / 1024);
  });
}

/** Executions that admin has deleted since its start, from its metrics. */
async function deletedCount(dataDir: string): Promise<number> {
  const text = await (await fetch(readStackConfig(dataDir).metricsUrl)).text();
  return [...text.matchAll(/^flyte_admin_executions_deleted_total\{.*?\} (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
}

/**
 * Counts rows and deletions until both agree twice: admin records the last events, and deletes,
 * meanwhile.
 */
async function countRecorded({ dataDir, executions, timeoutMs }: SoakOptions, run: string): Promise<number> {
  const count = async () => {
    const deletedBefore = await deletedCount(dataDir);
    const rows = await withDatabase(dataDir, async (db) => {
      const found = await db.query<{ count: bigint }>({
        text: "SELECT count(*) AS count FROM executions WHERE execution_name LIKE $1 AND phase = 'SUCCEEDED'",
        values: [`s${run}x%`],
      });
      return Number(found.rows[0]?.count ?? 0n);
    });
    return deletedBefore === (await deletedCount(dataDir)) ? deletedBefore + rows : undefined;
  };
  let recorded: number | undefined;
  for (const deadline = Date.now() + timeoutMs; recorded !== executions && Date.now() < deadline; await sleep(500))
    recorded = (await count()) ?? recorded;
  return recorded ?? 0;
}
