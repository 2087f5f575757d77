import { setTimeout as sleep } from "node:timers/promises";
import { forEachConcurrent } from "@flyte-ts/async";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { ExecutionState } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { StackMemory } from "../memory.js";
import { creationRequest, register } from "../run-workload.js";
import { GrpcWatches, openEvents, type WatchedName, type Watcher } from "./open-watch.js";

/** Maximum of concurrent requests. */
const CONCURRENCY = 32;

export interface WatchOptions {
  readonly endpoint: string;
  readonly project: string;
  readonly domain: string;
  readonly watchers: number;
  /** Executions that the watchers are spread over. */
  readonly executions: number;
  /** Number of connections for gRPC streams; 0: server-sent events on one connection each. */
  readonly connections: number;
  readonly timeoutMs: number;
  readonly memory: StackMemory;
}

export interface WatchMeasurement {
  readonly watchers: number;
  readonly executions: number;
  readonly connections: number | "events";
  /** Time until all watchers have received the first state, s. */
  readonly openedSeconds: number;
  /** Memory of admin before, with all watchers, and after, MiB. */
  readonly adminMib: readonly [number, number, number];
  /** Memory per watcher, KiB. */
  readonly kibEach: number;
  /** Share of a core that admin uses while nothing changes. */
  readonly idleCpu: number;
  /**
   * Time from a change of every execution until the last watcher received it, ms: the median and
   * the slowest round.
   */
  readonly deliveryMs: readonly [number, number];
  /** Processor time of admin and of the client per message, ms. */
  readonly cpuMsEach: { readonly admin: number; readonly client: number };
  /** Time from the end of every execution until the last stream ended, s. */
  readonly endedSeconds: number;
  readonly failed: number;
}

const WORKLOAD = { topology: "chain", size: 1, taskKind: "core-sleep", sleepSeconds: 3_600 } as const;
const ROUNDS = 5;
const IDLE_PERIOD_MS = 10_000;

/**
 * Watches running executions with many streams, changes each execution several times, and ends it.
 */
export async function measureWatch(options: WatchOptions): Promise<WatchMeasurement> {
  const { endpoint, watchers, executions, connections, memory } = options;
  const client = createFlyteClient({ endpoint });
  const sessions = Array.from({ length: connections }, () => new GrpcWatches(endpoint));
  const open: Watcher[] = [];
  try {
    const names = await start(client, options);
    const before = adminMib(memory);
    const tally = new MessageCounts();
    const begun = performance.now();
    for (let index = 0; index < watchers; index++) {
      const id = names[index % executions] as WatchedName;
      const session = sessions[index % Math.max(1, connections)];
      const onMessage = tally.watcher();
      open.push(session === undefined ? openEvents(endpoint, id, onMessage) : session.open(id, onMessage));
      // Pace the connections so that they do not all arrive at once.
      if (index % 100 === 99) await sleep(1);
    }
    const ends = open.map(({ ended }) => ended.then(() => true).catch(() => false));
    await tally.all(1, options.timeoutMs);
    const openedSeconds = seconds(performance.now() - begun);
    await sleep(3_000);
    const idleFrom = cpuOf(memory);
    await sleep(IDLE_PERIOD_MS);
    const idleCpu = (cpuOf(memory).admin - idleFrom.admin) / (IDLE_PERIOD_MS / 1_000);
    const held = adminMib(memory);
    const busyFrom = cpuOf(memory);
    const delivered: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const from = performance.now();
      const state = round % 2 === 0 ? ExecutionState.EXECUTION_ARCHIVED : ExecutionState.EXECUTION_ACTIVE;
      await forEachConcurrent(names, CONCURRENCY, async (id) => void (await client.admin.updateExecution({ id, state })));
      await tally.all(2 + round, options.timeoutMs);
      delivered.push(Math.round(performance.now() - from));
      await sleep(1_000);
    }
    const busy = cpuOf(memory);
    const ending = performance.now();
    await forEachConcurrent(names, CONCURRENCY, async (id) => void (await client.admin.terminateExecution({ id, cause: "measured" })));
    const ended = await Promise.all(ends);
    const endedSeconds = seconds(performance.now() - ending);
    await sleep(15_000);
    delivered.sort((a, b) => a - b);
    const each = (name: "admin" | "client") => Math.round(((busy[name] - busyFrom[name]) * 1e6) / (watchers * ROUNDS)) / 1_000;
    return {
      watchers,
      executions,
      connections: connections === 0 ? "events" : connections,
      openedSeconds,
      adminMib: [before, held, adminMib(memory)],
      kibEach: Math.round(((held - before) * 1_024) / watchers),
      idleCpu: Math.round(idleCpu * 1_000) / 1_000,
      deliveryMs: [delivered[Math.floor(delivered.length / 2)] ?? 0, delivered.at(-1) ?? 0],
      cpuMsEach: { admin: each("admin"), client: each("client") },
      endedSeconds,
      failed: ended.filter((whole) => !whole).length,
    };
  } finally {
    for (const watcher of open) watcher.close();
    for (const session of sessions) session.close();
    client.close();
  }
}

async function start(client: FlyteClient, options: WatchOptions): Promise<readonly WatchedName[]> {
  const { project, domain } = options;
  const launchPlan = await register(client, { ...options, ...WORKLOAD });
  const names: WatchedName[] = [];
  await forEachConcurrent(Array(options.executions).keys(), CONCURRENCY, async () => {
    const { id } = await client.admin.createExecution(creationRequest(launchPlan, { ...options, ...WORKLOAD }));
    names.push({ project, domain, name: id?.name ?? "" });
  });
  for (const id of names) {
    for (let phase = WorkflowExecution_Phase.UNDEFINED; phase !== WorkflowExecution_Phase.RUNNING; await sleep(100)) {
      phase = (await client.admin.getExecution({ id })).closure?.phase ?? phase;
    }
  }
  // Wait until the nodes run, too.
  await sleep(5_000);
  return names;
}

/** Number of messages about the execution that each watcher has received. */
class MessageCounts {
  readonly #counts: number[] = [];
  #changed: () => void = () => undefined;

  watcher(): (tellsExecution: boolean) => void {
    const index = this.#counts.push(0) - 1;
    return (tellsExecution) => {
      if (!tellsExecution) return;
      this.#counts[index] = (this.#counts[index] ?? 0) + 1;
      this.#changed();
    };
  }

  /** Resolves when every watcher has received `count` messages. */
  async all(count: number, timeoutMs: number): Promise<void> {
    const until = performance.now() + timeoutMs;
    let missing = this.#counts.filter((each) => each < count).length;
    while (missing > 0) {
      if (performance.now() > until) throw new Error(`${missing} watchers received no state`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 100);
        this.#changed = () => {
          // Count again only after as many messages as watchers are missing.
          if (--missing > 0) return;
          clearTimeout(timer);
          resolve();
        };
      });
      missing = this.#counts.filter((each) => each < count).length;
    }
  }
}

function adminMib(memory: StackMemory): number {
  return memory.read().parts.admin ?? 0;
}

function cpuOf(memory: StackMemory): { readonly admin: number; readonly client: number } {
  const { user, system } = process.cpuUsage();
  return { client: (user + system) / 1e6, admin: memory.cpuParts().admin ?? 0 };
}

function seconds(ms: number): number {
  return Math.round(ms / 10) / 100;
}
