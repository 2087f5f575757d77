import { setTimeout as sleep } from "node:timers/promises";
import { NodeExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type Bus, connectBus } from "@flyte-ts/messaging";
import { createLogger } from "@flyte-ts/telemetry";
import { type BusMessage, nodeEvent } from "./node-event.js";
import type { StackMemory } from "../memory.js";
import { readCpuTime, cpuMsPerCall } from "./cpu-time.js";
import type { StackConfig } from "./stack-config.js";

/** Phases that each node reports, in order. */
const PHASES = [Phase.QUEUED, Phase.RUNNING, Phase.SUCCEEDED] as const;
/**
 * Nodes that report concurrently: as many as admin records concurrently, so that each event changes
 * another row.
 */
const NODES = 1_000;

export interface IngestOptions {
  readonly stack: StackConfig;
  readonly project: string;
  readonly domain: string;
  /** Names of the executions whose nodes report. */
  readonly names: readonly string[];
  readonly events: number;
  readonly timeoutMs: number;
  readonly memory: StackMemory;
}

export interface IngestMeasurement {
  readonly call: "ingest";
  readonly events: number;
  /** Recorded events per second, from the first published to the last recorded. */
  readonly rate: number;
  /** Events per second that the bus accepted. */
  readonly sentRate: number;
  /** Events that admin did not record. */
  readonly failed: number;
  /** Processor time per event in this client and by program of the stack, ms. */
  readonly cpuMs: Readonly<Record<string, number>>;
}

/**
 * Publishes node events as propeller does, as fast as the bus accepts them, and waits until admin
 * has recorded all.
 */
export async function measureIngest(options: IngestOptions): Promise<IngestMeasurement> {
  const bus = await connectBus({
    url: options.stack.busUrl,
    name: "flyte-ts bench",
    logger: createLogger({ service: "bench", level: "warn" }),
  });
  try {
    const nodes = Math.ceil(options.events / PHASES.length / NODES) * NODES;
    await publishAll(bus, options, messages(options, NODES));
    const made = messages(options, nodes);
    const before = readCpuTime(options.memory);
    const published = await publishAll(bus, options, made);
    const cpuMs = cpuMsPerCall(before, readCpuTime(options.memory), made.length);
    return { call: "ingest", events: made.length, ...published, cpuMs };
  } finally {
    await bus.close();
  }
}

/** Node ids contain the time, so that no earlier run has used them. */
function messages({ project, domain, names }: IngestOptions, nodes: number): readonly BusMessage[] {
  const now = Date.now();
  const made: BusMessage[] = [];
  for (let from = 0; from < nodes; from += NODES) {
    for (const [sequence, phase] of PHASES.entries()) {
      for (let node = from; node < from + NODES; node++) {
        const name = names[node % names.length] as string;
        const nodeId = `bench-${now}-${node}`;
        made.push(nodeEvent({ project, domain, name, nodeId, sequence: sequence + 1, phase, occurredAtMs: now }));
      }
    }
  }
  return made;
}

async function publishAll(
  bus: Bus,
  { stack, timeoutMs }: IngestOptions,
  made: readonly BusMessage[],
): Promise<Pick<IngestMeasurement, "rate" | "sentRate" | "failed">> {
  const before = await readEventCounts(stack);
  const began = performance.now();
  const perSecond = () => Math.round(made.length / ((performance.now() - began) / 1_000));
  await Promise.all(made.map(({ subject, data }) => bus.publish(subject, data)));
  const sentRate = perSecond();
  for (;;) {
    const { recorded, others } = await readEventCounts(stack);
    const failed = others - before.others;
    if (recorded - before.recorded + failed >= made.length) return { rate: perSecond(), sentRate, failed };
    if (performance.now() - began > timeoutMs) throw new Error(`only ${recorded - before.recorded} of ${made.length} events were recorded`);
    await sleep(20);
  }
}

/** Number of events that admin has received from the bus, by its own metric. */
export async function readEventCounts({ metricsUrl }: StackConfig): Promise<{ readonly recorded: number; readonly others: number }> {
  const text = await (await fetch(metricsUrl)).text();
  let recorded = 0;
  let others = 0;
  for (const [, outcome, value] of text.matchAll(/^flyte_admin_ingest_events_total\{outcome="(\w+)"\} (\d+)$/gm)) {
    if (outcome === "recorded") recorded += Number(value);
    else others += Number(value);
  }
  return { recorded, others };
}
