import { setTimeout as sleep } from "node:timers/promises";
import { forEachConcurrent } from "@flyte-ts/async";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { ExecutionState } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { StackMemory } from "../memory.js";
import { creation, register } from "../run-shape.js";
import { GrpcWatches, openEvents, type WatchedName, type Watcher } from "./open-watch.js";

/** Maximum of concurrent requests. */
const CONCURRENCY = 32;

export interface WatchOptions {
  readonly endpoint: string;
  readonly project: string;
  readonly domain: string;
  readonly watchers: number;
  /** Executions that they are spread over. */
  readonly executions: number;
  /** gRPC streams over so many connections; 0: server-sent events, each over its own. */
  readonly connections: number;
  readonly patienceMs: number;
  readonly memory: StackMemory;
}

export interface WatchMeasurement {
  readonly watchers: number;
  readonly executions: number;
  readonly connections: number | "events";
  /** Until all have been told the first state, seconds. */
  readonly openedSeconds: number;
  /** Memory of admin, MiB: before, with all of them, and after. */
  readonly adminMib: readonly [number, number, number];
  /** Of one watcher, KiB. */
  readonly kibEach: number;
  /** Processor of admin while nothing changes, of one. */
  readonly idleCpu: number;
  /** From a change of every execution until the last watcher was told, milliseconds: the median and the slowest of the rounds. */
  readonly toldMs: readonly [number, number];
  /** Processor time of admin and of the client for one message, milliseconds. */
  readonly cpuMsEach: { readonly admin: number; readonly client: number };
  /** From the end of every execution until the last stream had ended, seconds. */
  readonly endedSeconds: number;
  readonly failed: number;
}

const LEAF = { shape: "chain", size: 1, leaf: "core-sleep", sleepSeconds: 3_600 } as const;
const ROUNDS = 5;
const IDLE_MS = 10_000;

/** Executions that run and do nothing are watched by many; then each is changed, several times, and ended. */
export async function measureWatch(options: WatchOptions): Promise<WatchMeasurement> {
  const { endpoint, watchers, executions, connections, memory } = options;
  const client = createFlyteClient({ endpoint });
  const sessions = Array.from({ length: connections }, () => new GrpcWatches(endpoint));
  const open: Watcher[] = [];
  try {
    const names = await start(client, options);
    const before = adminMib(memory);
    const tally = new Tally();
    const begun = performance.now();
    for (let index = 0; index < watchers; index++) {
      const id = names[index % executions] as WatchedName;
      const session = sessions[index % Math.max(1, connections)];
      const onMessage = tally.watcher();
      open.push(session === undefined ? openEvents(endpoint, id, onMessage) : session.open(id, onMessage));
      // Connections are made as fast as they are taken, not all in one instant.
      if (index % 100 === 99) await sleep(1);
    }
    const ends = open.map(({ ended }) => ended.then(() => true).catch(() => false));
    await tally.all(1, options.patienceMs);
    const openedSeconds = seconds(performance.now() - begun);
    await sleep(3_000);
    const idleFrom = cpuOf(memory);
    await sleep(IDLE_MS);
    const idleCpu = (cpuOf(memory).admin - idleFrom.admin) / (IDLE_MS / 1_000);
    const held = adminMib(memory);
    const busyFrom = cpuOf(memory);
    const told: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const from = performance.now();
      const state = round % 2 === 0 ? ExecutionState.EXECUTION_ARCHIVED : ExecutionState.EXECUTION_ACTIVE;
      await forEachConcurrent(names, CONCURRENCY, async (id) => void (await client.admin.updateExecution({ id, state })));
      await tally.all(2 + round, options.patienceMs);
      told.push(Math.round(performance.now() - from));
      await sleep(1_000);
    }
    const busy = cpuOf(memory);
    const ending = performance.now();
    await forEachConcurrent(names, CONCURRENCY, async (id) => void (await client.admin.terminateExecution({ id, cause: "measured" })));
    const ended = await Promise.all(ends);
    const endedSeconds = seconds(performance.now() - ending);
    await sleep(15_000);
    told.sort((a, b) => a - b);
    const each = (name: "admin" | "client") => Math.round(((busy[name] - busyFrom[name]) * 1e6) / (watchers * ROUNDS)) / 1_000;
    return {
      watchers,
      executions,
      connections: connections === 0 ? "events" : connections,
      openedSeconds,
      adminMib: [before, held, adminMib(memory)],
      kibEach: Math.round(((held - before) * 1_024) / watchers),
      idleCpu: Math.round(idleCpu * 1_000) / 1_000,
      toldMs: [told[Math.floor(told.length / 2)] ?? 0, told.at(-1) ?? 0],
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
  const launchPlan = await register(client, { ...options, ...LEAF });
  const names: WatchedName[] = [];
  await forEachConcurrent(Array(options.executions).keys(), CONCURRENCY, async () => {
    const { id } = await client.admin.createExecution(creation(launchPlan, { ...options, ...LEAF }));
    names.push({ project, domain, name: id?.name ?? "" });
  });
  for (const id of names) {
    for (let phase = WorkflowExecution_Phase.UNDEFINED; phase !== WorkflowExecution_Phase.RUNNING; await sleep(100)) {
      phase = (await client.admin.getExecution({ id })).closure?.phase ?? phase;
    }
  }
  // Until their nodes run, too.
  await sleep(5_000);
  return names;
}

/** How many messages about the execution each watcher has got. */
class Tally {
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

  /** Resolves when all have got so many. */
  async all(count: number, patienceMs: number): Promise<void> {
    const until = performance.now() + patienceMs;
    let missing = this.#counts.filter((each) => each < count).length;
    while (missing > 0) {
      if (performance.now() > until) throw new Error(`${missing} watchers have not been told`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 100);
        this.#changed = () => {
          // Looked at when the last of them may have come.
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
