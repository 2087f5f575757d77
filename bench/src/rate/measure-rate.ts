import { setTimeout as sleep } from "node:timers/promises";
import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { ResourceListRequestSchema } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { ExecutionCreateRequestSchema, WorkflowExecutionGetRequestSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { StackMemory } from "../memory.js";
import { creationRequest, register } from "../run-workload.js";
import { closedLoop, type LoopResult } from "./closed-loop.js";
import { Connection, framed } from "./connection.js";
import { SEEDED_PREFIX } from "./seed-database.js";
import { readCpuTime, cpuMsPerCall } from "./cpu-time.js";

/**
 * `get`: GetExecution of existing executions in rotation. `list`: ListExecutions, newest first.
 * `create`: CreateExecution of a workflow with one task.
 */
export type Call = "get" | "list" | "create";

export interface RateOptions {
  readonly endpoint: string;
  readonly project: string;
  readonly domain: string;
  readonly call: Call;
  readonly seconds: number;
  /** Concurrent calls. */
  readonly callers: number;
  /** Connections that the callers share. */
  readonly connections: number;
  /** `get`: number of executions that `fill` inserted. Default: the newest 100 executions. */
  readonly rows?: number | undefined;
  /** `list`: page size, filters in the API's syntax, and the offset. */
  readonly limit: number;
  readonly filters: string;
  readonly token: string;
  readonly timeoutMs: number;
  readonly memory: StackMemory | undefined;
}

export interface RateMeasurement extends LoopResult {
  readonly call: Call;
  readonly callers: number;
  readonly connections: number;
  /** Mean size of a response, bytes. */
  readonly responseBytes: number;
  /**
   * `create`: executions per second that began to run, from the first call until the last of them
   * began.
   */
  readonly startedRate?: number;
  /**
   * Processor time per call in this client, and by program of the stack where its folder is known,
   * ms.
   */
  readonly cpuMs: Readonly<Record<string, number>>;
}

const WARM_UP_SECONDS = 3;
const WORKLOAD = { topology: "chain", size: 1, taskKind: "echo", sleepSeconds: 0 } as const;

/** Calls admin as fast as it responds. */
export async function measureRate(options: RateOptions): Promise<RateMeasurement> {
  const client = createFlyteClient({ endpoint: options.endpoint });
  const connections = await Promise.all(Array.from({ length: options.connections }, () => Connection.open(options.endpoint)));
  try {
    const { path, messages } = await prepare(client, options);
    let bytes = 0;
    let calls = 0;
    // The stack runs on this machine, so client and stack use the same clock.
    const since = new Date().toISOString();
    const before = readCpuTime(options.memory);
    const loop = await closedLoop({
      callers: options.callers,
      seconds: options.seconds,
      warmUpSeconds: WARM_UP_SECONDS,
      now: () => performance.now(),
      call: async (caller) => {
        const message = messages[calls++ % messages.length] as Buffer;
        const answered = await (connections[caller % connections.length] as Connection).call(path, message);
        bytes += answered;
      },
    });
    const after = readCpuTime(options.memory);
    const { call, callers } = options;
    const startedRate = call === "create" ? { startedRate: await waitUntilStarted(client, options, { since, calls }) } : {};
    const cpuMs = cpuMsPerCall(before, after, calls);
    return { call, callers, connections: connections.length, ...loop, responseBytes: Math.round(bytes / calls), ...startedRate, cpuMs };
  } finally {
    for (const connection of connections) connection.close();
    client.close();
  }
}

interface Prepared {
  readonly path: string;
  /** Messages to send in rotation. */
  readonly messages: readonly Buffer[];
}

async function prepare(client: FlyteClient, options: RateOptions): Promise<Prepared> {
  const { project, domain, call } = options;
  const service = "/flyteidl.service.AdminService";
  const list = { id: { project, domain }, limit: options.limit, sortBy: { key: "created_at", direction: 0 } };
  switch (call) {
    case "get": {
      const names = options.rows === undefined ? await newestNames(client, options) : spreadNames(options.rows);
      const messages = names.map((name) => request(WorkflowExecutionGetRequestSchema, { id: { project, domain, name } }));
      return { path: `${service}/GetExecution`, messages };
    }
    case "list": {
      const { filters, token } = options;
      return { path: `${service}/ListExecutions`, messages: [request(ResourceListRequestSchema, { ...list, filters, token })] };
    }
    case "create": {
      const launchPlan = await register(client, { ...options, ...WORKLOAD });
      const message = request(ExecutionCreateRequestSchema, creationRequest(launchPlan, { ...options, ...WORKLOAD }));
      return { path: `${service}/CreateExecution`, messages: [message] };
    }
  }
}

function request<Desc extends DescMessage>(schema: Desc, init: MessageInitShape<Desc>): Buffer {
  return framed(toBinary(schema, create(schema, init)));
}

/** Names of the newest executions. */
export async function newestNames(
  client: FlyteClient,
  { project, domain }: Pick<RateOptions, "project" | "domain">,
): Promise<readonly string[]> {
  const sortBy = { key: "created_at", direction: 0 };
  const { executions } = await client.admin.listExecutions({ id: { project, domain }, limit: 100, sortBy });
  if (executions.length === 0) throw new Error(`there is no execution in ${project}/${domain}: run a workload first`);
  return executions.map(({ id }) => id?.name ?? "");
}

/** Ten thousand names spread over the inserted executions. */
function spreadNames(rows: number): readonly string[] {
  return Array.from({ length: Math.min(rows, 10_000) }, (_, index) => `${SEEDED_PREFIX}${1 + ((index * 7_919) % rows)}`);
}

/** Waits until all executions created since have begun. Resolves to the rate per second. */
async function waitUntilStarted(
  client: FlyteClient,
  { project, domain, timeoutMs }: RateOptions,
  { since, calls }: { readonly since: string; readonly calls: number },
): Promise<number> {
  const deadline = Date.now() + timeoutMs;
  const filters = `gte(created_at,${since})+value_in(phase,UNDEFINED;QUEUED)`;
  for (;;) {
    const { executions } = await client.admin.listExecutions({ id: { project, domain }, limit: 1, filters });
    if (executions.length === 0) break;
    if (Date.now() > deadline) throw new Error("executions that were created have not started");
    await sleep(50);
  }
  return Math.round(calls / ((Date.now() - Date.parse(since)) / 1_000));
}
