import { allEventFilters, EVENT_STREAM } from "@flyte-ts/domain";
import type { BusMessage, Subscription } from "@flyte-ts/messaging";
import type { AdminDeps } from "../deps.js";
import { offloadNames } from "../event/offload-names.js";
import { decodeItem } from "./decode.js";
import { ExecutionIds } from "./execution-ids.js";
import type { Item, Outcome } from "./item.js";
import { ingestMetrics } from "./metrics.js";
import { Patience } from "./patience.js";
import { Orphans } from "../orphan/orphans.js";
import { completeEnds } from "../settle/complete-ends.js";
import { announceEnds } from "../wake/announce-ends.js";
import { type BatchDeps, recordBatch } from "./record-batch.js";

export type IngestDeps = Pick<
  AdminDeps,
  "db" | "bus" | "blobs" | "health" | "clusters" | "logger" | "clock" | "config" | "metrics" | "changed"
>;

const BATCH = 4_000;
/**
 * Maximum of redeliveries (about 13 s) of an execution's end while the ends of its nodes and attempts may be in
 * transit; afterwards they are backfilled from its resource, and it is stored.
 */
const HELD_WAITS = 8;
/** Ack timeout, ms: the bus redelivers unacknowledged events of a crashed replica after this time. */
const ACK_WAIT_MS = 10_000;
/**
 * Batching window, ms. A transaction costs the same for 3 events as for 50, and an execution reports its nodes one by
 * one. Under load, most nodes start and end within the longer window, and are written once.
 */
const GATHER_MS = { min: 20, max: 250 };
/** Database outage, ms, after which a batch is returned to the bus. */
const AWAY_MS = 500;

/** Consumes events from the bus into the database until it is closed. Any number of replicas share the work. */
export async function startIngest(deps: IngestDeps): Promise<Subscription> {
  const { bus, db, logger } = deps;
  const names = offloadNames(deps.config);
  /** Items of the current batch that the database rejects. */
  const refusals = new Map<Item, string>();
  const batch: BatchDeps = {
    db,
    ids: new ExecutionIds(),
    namespaceTemplate: deps.config.namespaceTemplate,
    completeEnds: (executionIds) => completeEnds(deps, executionIds),
    onUnrecordable: (item, error) => {
      logger.error({ ...describe(item), error: String(error) }, "event put aside: the database refuses it");
      refusals.set(item, `the database refuses it: ${String(error)}`);
    },
  };
  const patience = new Patience();
  const orphans = new Orphans(deps);
  const metrics = ingestMetrics(deps.metrics);
  return bus.subscribe(
    {
      stream: EVENT_STREAM.name,
      durable: "admin-ingest",
      subjects: allEventFilters,
      maxInFlight: 2 * BATCH,
      batch: BATCH,
      ackWaitMs: ACK_WAIT_MS,
      batchWindowMs: GATHER_MS,
    },
    async (messages) => {
      const read: { message: BusMessage; item: Item }[] = [];
      for (const message of messages) {
        try {
          const item = decodeItem(message.subject, message.data, names);
          if (item === undefined) message.ack();
          else read.push({ message, item });
        } catch (error) {
          message.discard(String(error));
        }
      }
      const result = await recordBatch(
        batch,
        read.map(({ item }) => item),
        (end) => patience.waited(keyOf(end)) < HELD_WAITS,
      ).catch((error: unknown) => {
        logger.warn({ events: read.length, error: String(error) }, "events cannot be recorded now");
        for (const { message } of read) message.nak(AWAY_MS);
        return undefined;
      });
      if (result === undefined) return;
      deps.changed?.(result.changed);
      for (const { item } of read) metrics.lag.observe(lagOf(item, deps.clock()));
      for (const outcome of result.outcomes) metrics.events.inc({ outcome });
      for (const [index, { message, item }] of read.entries()) {
        const outcome = result.outcomes[index];
        if (outcome === "foreign")
          logger.warn(
            { ...describe(item), cluster: item.cluster, workflow: item.workflowKey },
            "event dropped: its execution belongs to another data plane or resource",
          );
        const refusal = refusals.get(item);
        if (refusal === undefined) settle({ logger, patience, orphans }, { message, item, outcome });
        else message.discard(refusal);
      }
      refusals.clear();
      await announceEnds(deps, result.ended);
    },
  );
}

interface Settled {
  readonly message: BusMessage;
  readonly item: Item;
  readonly outcome: Outcome | undefined;
}

interface Settling {
  readonly logger: IngestDeps["logger"];
  readonly patience: Patience;
  readonly orphans: Orphans;
}

function settle({ logger, patience, orphans }: Settling, { message, item, outcome }: Settled): void {
  if (outcome !== "waits" && outcome !== "unknown") {
    if (!patience.idle) patience.done(keyOf(item));
    message.ack();
    return;
  }
  const hopeless = outcome === "unknown" && orphans.has(item.execution);
  const delayMs = hopeless ? undefined : patience.wait(keyOf(item));
  if (delayMs !== undefined) return message.nak(delayMs);
  logger.warn(describe(item), "event dropped: what it belongs to never came");
  message.ack();
  if (outcome === "unknown") void orphans.heard(item);
}

function keyOf(item: Item): string {
  return `${JSON.stringify(describe(item))} ${item.order}`;
}

function describe(item: Item): Record<string, unknown> {
  const { project, domain, name } = item.execution;
  const execution = `${project}/${domain}/${name}`;
  switch (item.kind) {
    case "workflow":
      return { kind: item.kind, execution, phase: item.fact.phase };
    case "notice":
      return { kind: item.kind, execution };
    case "node":
      return { kind: item.kind, execution, node: item.nodeId, phase: item.fact.phase };
    case "task":
      return { kind: item.kind, execution, node: item.key.nodeId, attempt: item.key.retryAttempt, phase: item.fact.phase };
    default:
      return item satisfies never;
  }
}

/** Seconds since the event was reported. */
function lagOf({ fact }: Item, now: Date): number {
  const toldAt = "reportedAt" in fact ? fact.reportedAt : fact.occurredAt;
  return Math.max(0, now.getTime() - Number(toldAt / 1_000_000n)) / 1_000;
}
