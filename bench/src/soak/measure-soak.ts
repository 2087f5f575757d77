import { setTimeout as sleep } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { createFlyteClient } from "@flyte-ts/client";
import { ExecutionCreateRequestSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { WorkflowExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type MemoryUse, StackMemory } from "../memory.js";
import { Connection, framed } from "../rate/connection.js";
import { readStackConfig } from "../rate/stack-config.js";
import { withDatabase } from "../rate/parse-args.js";
import { creationRequest, register } from "../run-workload.js";
import { followExecutions } from "./execution-events.js";
import { meanMemory, quantiles, round, type SoakCounts, type SoakTenth } from "./soak-figures.js";

export interface SoakOptions {
  readonly endpoint: string;
  readonly project: string;
  readonly domain: string;
  /** Folder of the stack's state. */
  readonly dataDir: string;
  /** Number of measured executions, a multiple of ten. */
  readonly executions: number;
  /** Executions before these, in which caches and heaps reach their sizes. */
  readonly warmupExecutions: number;
  /** Time for which retention keeps an ended execution, s. */
  readonly keepSeconds: number;
  /** Longest time without the end of any execution, ms. */
  readonly timeoutMs: number;
  /** Called after each tenth of the executions. */
  readonly onTenth: (tenth: SoakTenth) => void;
}

const WORKLOAD = { topology: "chain", size: 3, taskKind: "echo", sleepSeconds: 0 } as const;
/** Interval of the samples of memory, ms. */
const SAMPLE_MS = 10_000;
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
  const { endpoint, project, domain, dataDir, timeoutMs } = options;
  const executions = options.warmupExecutions + options.executions;
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
    return { accepted, succeeded, recorded: await countRecorded(options, { run, executions }) };
  } finally {
    figures.close();
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
  #samples: MemoryUse[] = [];
  readonly #sampling = setInterval(() => this.#samples.push(this.#memory.read()), SAMPLE_MS);
  #ended = 0;
  #begunAt = performance.now();

  constructor(private readonly options: SoakOptions) {
    this.#memory = new StackMemory(options.dataDir);
  }

  close(): void {
    clearInterval(this.#sampling);
  }

  onEnd(): void {
    this.#ended++;
    const size = this.options.executions / 10;
    const ended = this.#ended - this.options.warmupExecutions;
    if (ended === 0) this.#begin();
    if (ended <= 0 || ended % size !== 0) return;
    const seconds = (performance.now() - this.#begunAt) / 1_000;
    const measured = {
      ended,
      seconds: round(seconds),
      rate: Math.round(size / seconds),
      create: quantiles(this.create),
      queue: quantiles(this.queue),
      memory: meanMemory([...this.#samples, this.#memory.read()]),
    };
    this.#begin();
    this.settled = this.settled.then(async () => {
      const { dataDir, onTenth } = this.options;
      onTenth({ ...measured, ...(await databaseSizes(dataDir)), deleted: await deletedCount(dataDir) });
    });
  }

  #begin(): void {
    this.#begunAt = performance.now();
    this.#samples = [];
    this.create = [];
    this.queue = [];
  }
}

async function databaseSizes(dataDir: string): Promise<Pick<SoakTenth, "databaseMib" | "auditLogMib">> {
  return withDatabase(dataDir, async (db) => {
    const { rows } = await db.query<{ all: bigint; audit: bigint }>({
      text: "SELECT pg_database_size(current_database()) AS all, pg_total_relation_size('audit_log') AS audit",
    });
    const mib = (bytes = 0n) => Math.round(Number(bytes) / 1024 / 1024);
    return { databaseMib: mib(rows[0]?.all), auditLogMib: mib(rows[0]?.audit) };
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
async function countRecorded(
  { dataDir, timeoutMs }: SoakOptions,
  { run, executions }: { readonly run: string; readonly executions: number },
): Promise<number> {
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
