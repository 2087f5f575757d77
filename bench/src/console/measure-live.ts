import { setTimeout as sleep } from "node:timers/promises";
import { createFlyteClient } from "@flyte-ts/client";
import { NodeExecution_Phase as Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type Bus, connectBus } from "@flyte-ts/messaging";
import { createLogger } from "@flyte-ts/telemetry";
import type { Browser, Page } from "playwright-core";
import type { StackMemory } from "../memory.js";
import { readEventCounts } from "../rate/measure-ingest.js";
import { nodeEvent } from "../rate/node-event.js";
import type { StackConfig } from "../rate/stack-config.js";
import { creationRequest, register } from "../run-workload.js";
import { addressOf, cpuSecondsOf, heapBytes, startBrowser, withPage } from "./browser.js";
import { frameTimesOf } from "./frame-times.js";

export interface LiveOptions {
  /** Address of admin, `host:port`. */
  readonly endpoint: string;
  readonly stack: StackConfig;
  readonly memory: StackMemory;
  readonly project: string;
  readonly domain: string;
  /** Nodes of the execution. */
  readonly nodes: number;
  /** Changes of nodes per second. */
  readonly rate: number;
}

/** Figures of the timeline of a running execution while its nodes change. */
export interface LiveFigures {
  readonly nodes: number;
  readonly rate: number;
  /** Changes that admin recorded in a second, fewer than the rate when it cannot keep up. */
  readonly recordedRate: number;
  /** From the publication of a change until the page draws it, ms: median, 95 % and worst. */
  readonly seenMs: readonly [number, number, number];
  readonly slowFramesPerSecond: number;
  readonly longestTaskMs: number;
  /** Cores that the page and its workers use, and the whole browser. */
  readonly pageCores: number;
  readonly browserCores: number;
  /** The same of the page while nothing changes, for comparison. */
  readonly idlePageCores: number;
  readonly adminCores: number;
  /** Heap of the page before and after the changes, MiB. */
  readonly heapMib: readonly [number, number];
}

const WORKLOAD = { topology: "chain", size: 1, taskKind: "core-sleep", sleepSeconds: 3_600 } as const;
const SECONDS = 20;
const IDLE_MS = 5_000;
const TICK_MS = 50;
/** Nodes in sight, one of which ends at each interval, ms. */
const MARKERS = 25;
const MARKER_MS = 700;
const TIMEOUT_MS = 300_000;
/** Records when the rows of markers are drawn as ended; runs in the page. */
const WATCH_MARKERS = `(() => {
  globalThis.markerTimes = {};
  const look = ({ target }) => {
    const row = (target.nodeType === Node.TEXT_NODE ? target.parentElement : target).closest('[role="row"]');
    const id = row?.querySelector("[title]")?.title ?? "";
    if (!id.startsWith("marker-") || id in globalThis.markerTimes || !row.textContent.includes("succeeded")) return;
    globalThis.markerTimes[id] = 0;
    requestAnimationFrame(() => requestAnimationFrame(() => { globalThis.markerTimes[id] = Date.now(); }));
  };
  const observer = new MutationObserver((records) => records.forEach(look));
  observer.observe(document.querySelector('[role="treegrid"]'), { subtree: true, childList: true, characterData: true });
})()`;

/**
 * Starts an execution whose one task sleeps, and publishes events of other nodes in its name while
 * Chromium shows its timeline, sorted by start so that rows in sight change.
 *
 * @throws Error without Chromium, or when admin does not record the nodes in time.
 */
export async function measureLive(options: LiveOptions): Promise<LiveFigures> {
  const bus = await connectBus({
    url: options.stack.busUrl,
    name: "flyte-ts bench",
    logger: createLogger({ service: "bench", level: "warn" }),
  });
  const browser = await startBrowser();
  try {
    const nodes = new ChangingNodes(bus, options, await startExecution(options));
    await nodes.queue();
    return await withPage(browser, (page) => measureIn({ browser, page, nodes, options }));
  } finally {
    await browser.close();
    await bus.close();
  }
}

interface Measured {
  readonly browser: Browser;
  readonly page: Page;
  readonly nodes: ChangingNodes;
  readonly options: LiveOptions;
}

async function measureIn({ browser, page, nodes, options }: Measured): Promise<LiveFigures> {
  const { endpoint, memory, rate, stack } = options;
  await page.goto(addressOf(endpoint, nodes.execution, "tab=timeline"));
  await page.getByRole("button", { name: "By start" }).click();
  await page.locator('[title="marker-1"]').waitFor({ timeout: TIMEOUT_MS });
  await page.evaluate(WATCH_MARKERS);
  const heapBefore = await heapBytes(page);
  const coresOf = async (
    work: () => Promise<void>,
  ): Promise<{ readonly page: number; readonly browser: number; readonly admin: number }> => {
    const [before, admin, began] = [await cpuSecondsOf(browser), adminSeconds(memory), performance.now()];
    await work();
    const [after, seconds] = [await cpuSecondsOf(browser), (performance.now() - began) / 1_000];
    const used = (kinds: readonly string[]): number =>
      kinds.reduce((sum, kind) => sum + ((after[kind] ?? 0) - (before[kind] ?? 0)), 0) / seconds;
    return { page: used(["renderer"]), browser: used(Object.keys(after)), admin: (adminSeconds(memory) - admin) / seconds };
  };
  const idle = await coresOf(() => sleep(IDLE_MS));
  const recordedBefore = (await readEventCounts(stack)).recorded;
  let frames = { slowFramesPerSecond: 0, longestTaskMs: 0 };
  let published: Readonly<Record<string, number>> = {};
  const busy = await coresOf(async () => {
    frames = await frameTimesOf(page, async () => {
      published = await nodes.change();
    });
  });
  const recorded = (await readEventCounts(stack)).recorded - recordedBefore;
  await page.waitForFunction(markersSeen, MARKERS, { timeout: TIMEOUT_MS });
  const seen = (await page.evaluate("globalThis.markerTimes")) as Readonly<Record<string, number>>;
  const delays = Object.entries(published)
    .map(([id, atMs]) => (seen[id] ?? Number.POSITIVE_INFINITY) - atMs)
    .sort((a, b) => a - b);
  const delayAt = (share: number): number => delays[Math.floor((delays.length - 1) * share)] ?? Number.NaN;
  return {
    nodes: options.nodes,
    rate,
    recordedRate: Math.round(recorded / SECONDS),
    seenMs: [delayAt(0.5), delayAt(0.95), delayAt(1)],
    slowFramesPerSecond: Math.round(frames.slowFramesPerSecond),
    longestTaskMs: Math.round(frames.longestTaskMs),
    pageCores: round(busy.page),
    browserCores: round(busy.browser),
    idlePageCores: round(idle.page),
    adminCores: round(busy.admin),
    heapMib: [mib(heapBefore), mib(await heapBytes(page))],
  };
}

/** Runs in the page: all markers have been drawn. */
function markersSeen(count: number): boolean {
  return Object.keys((globalThis as { readonly markerTimes?: object }).markerTimes ?? {}).length >= count;
}

interface ExecutionName {
  readonly project: string;
  readonly domain: string;
  readonly name: string;
}

/** Nodes of an execution whose events are published as propeller does. */
class ChangingNodes {
  constructor(
    readonly bus: Bus,
    readonly options: LiveOptions,
    readonly execution: ExecutionName,
  ) {}

  /** Publishes that all nodes are queued and those in sight run; waits until it is recorded. */
  async queue(): Promise<void> {
    const { nodes, stack } = this.options;
    const before = (await readEventCounts(stack)).recorded;
    const at = Date.now();
    const markers = markerIds().flatMap((id) => [this.#send(id, Phase.QUEUED, at), this.#send(id, Phase.RUNNING, at)]);
    await Promise.all(markers);
    await Promise.all(Array.from({ length: nodes }, (_, index) => this.#send(nodeId(index), Phase.QUEUED, at)));
    const wanted = before + nodes + 2 * MARKERS;
    for (const until = performance.now() + TIMEOUT_MS; (await readEventCounts(stack)).recorded < wanted; await sleep(200))
      if (performance.now() > until) throw new Error("admin did not record the nodes in time");
  }

  /** Lets nodes start and end at the rate, and those in sight end; resolves to their times. */
  async change(): Promise<Readonly<Record<string, number>>> {
    const { rate, nodes } = this.options;
    const times: Record<string, number> = {};
    const markers = markerIds().values();
    const began = performance.now();
    let [sent, nextMarkerMs] = [0, MARKER_MS];
    for (let passed = 0; passed < SECONDS * 1_000; passed = performance.now() - began) {
      for (const until = Math.floor((passed * rate) / 1_000); sent < until; sent++) {
        // Each node starts, and ends after all others have started.
        const index = sent % nodes;
        void this.#send(nodeId(index), Math.floor(sent / nodes) === 0 ? Phase.RUNNING : Phase.SUCCEEDED, Date.now());
      }
      if (passed >= nextMarkerMs) {
        nextMarkerMs += MARKER_MS;
        const { value: id } = markers.next();
        if (id !== undefined) {
          times[id] = Date.now();
          void this.#send(id, Phase.SUCCEEDED, Date.now());
        }
      }
      await sleep(TICK_MS);
    }
    return times;
  }

  #send(id: string, phase: Phase, occurredAtMs: number): Promise<void> {
    const { subject, data } = nodeEvent({ ...this.execution, nodeId: id, sequence: phase + 1, phase, occurredAtMs });
    return this.bus.publish(subject, data);
  }
}

const nodeId = (index: number): string => `b${index}`;
const markerIds = (): readonly string[] => Array.from({ length: MARKERS }, (_, index) => `marker-${index + 1}`);

async function startExecution({ endpoint, project, domain }: LiveOptions): Promise<ExecutionName> {
  const client = createFlyteClient({ endpoint });
  try {
    const options = { project, domain, ...WORKLOAD };
    const { id } = await client.admin.createExecution(creationRequest(await register(client, options), options));
    const execution = { project, domain, name: id?.name ?? "" };
    for (let phase = WorkflowExecution_Phase.UNDEFINED; phase !== WorkflowExecution_Phase.RUNNING; await sleep(100))
      phase = (await client.admin.getExecution({ id: execution })).closure?.phase ?? phase;
    return execution;
  } finally {
    client.close();
  }
}

const adminSeconds = (memory: StackMemory): number => memory.cpuParts()["admin"] ?? 0;
const round = (cores: number): number => Math.round(cores * 1_000) / 1_000;
const mib = (bytes: number): number => Math.round(bytes / 2 ** 20);
