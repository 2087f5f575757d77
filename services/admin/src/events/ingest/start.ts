import { allEventFilters, EVENT_STREAM, eventQueue } from "@flyte-ts/bus-contract";
import type { BusMessage, Subscription } from "@flyte-ts/messaging";
import type { EventsDeps } from "../deps.js";
import { offloadNames } from "../offload-names.js";
import { decodeEvent } from "./decode.js";
import { ExecutionIds } from "./execution-ids.js";
import type { DecodedEvent, Outcome } from "../decoded-event.js";
import { ingestMetrics } from "./metrics.js";
import { RedeliveryBackoff } from "./redelivery-backoff.js";
import { OrphanTracker } from "../orphans/orphan-tracker.js";
import { completeFromResources } from "../resource-completion/complete-from-resources.js";
import { publishCompletions } from "../../executions/index.js";
import { type BatchDeps, recordBatch } from "./record-batch.js";

export type IngestDeps = Pick<
  EventsDeps,
  "db" | "bus" | "blobs" | "health" | "clusters" | "logger" | "clock" | "config" | "metrics" | "publishChanged" | "noteEnd"
>;

const BATCH = 4_000;
/**
 * Maximum of redeliveries (about 13 s) of an execution's terminal event while those of its nodes
 * and attempts may be in transit. Afterwards the missing ones are backfilled from its resource, and
 * the execution's event is stored.
 */
const DEFER_ATTEMPTS = 8;
/**
 * Ack timeout, ms: the bus redelivers unacknowledged events of a crashed replica after this time.
 */
const ACK_WAIT_MS = 10_000;
/**
 * Batching window, ms. A transaction costs the same for 3 events as for 50, and an execution
 * reports its nodes one by one. Under load, most nodes start and end within the longer window, and
 * are written once.
 */
const BATCH_WINDOW_MS = { min: 20, max: 250 };
/** Database outage, ms, after which a batch is returned to the bus. */
const NAK_DELAY_MS = 500;

/**
 * Consumes events from the bus into the database until it is closed. Any number of replicas share
 * the work.
 */
export async function startIngest(deps: IngestDeps): Promise<Subscription> {
  const { bus, db, logger } = deps;
  const names = offloadNames(deps.config);
  /** Items of the current batch that the database rejects. */
  const refusals = new Map<DecodedEvent, string>();
  const batch: BatchDeps = {
    db,
    ids: new ExecutionIds(deps.config.namespaceTemplate),
    completeEnds: (executionIds) => completeFromResources(deps, executionIds),
    onRejected: (item, error) => {
      logger.error({ ...describe(item), error: String(error) }, "event stored as a dead letter: the database rejects it");
      refusals.set(item, `the database rejects it: ${String(error)}`);
    },
  };
  const backoff = new RedeliveryBackoff();
  const orphans = new OrphanTracker(deps);
  const metrics = ingestMetrics(deps.metrics);
  return bus.subscribe(
    {
      stream: EVENT_STREAM.name,
      durable: "admin-ingest",
      subjects: allEventFilters,
      maxInFlight: 2 * BATCH,
      batch: BATCH,
      ackWaitMs: ACK_WAIT_MS,
      batchWindowMs: BATCH_WINDOW_MS,
      queueOf: eventQueue,
    },
    async (messages) => {
      const read: { message: BusMessage; item: DecodedEvent }[] = [];
      for (const message of messages) {
        try {
          const item = decodeEvent(message.subject, message.data, names);
          if (item === undefined) message.ack();
          else read.push({ message, item });
        } catch (error) {
          message.discard(String(error));
        }
      }
      const result = await recordBatch(
        batch,
        read.map(({ item }) => item),
        (end) => backoff.attempts(keyOf(end)) < DEFER_ATTEMPTS,
      ).catch((error: unknown) => {
        if (!deps.db.outages.postpone("events", error))
          logger.warn({ events: read.length, error: String(error) }, "events could not be recorded; retrying");
        for (const { message } of read) message.nak(NAK_DELAY_MS);
        return undefined;
      });
      if (result === undefined) return;
      deps.publishChanged?.(result.changed);
      for (const { execution, nodes } of result.ended) deps.noteEnd?.(execution, nodes);
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
        if (refusal === undefined) acknowledge({ logger, backoff, orphans }, { message, item, outcome });
        else message.discard(refusal);
      }
      refusals.clear();
      await publishCompletions(deps, result.ended);
    },
  );
}

interface AckInput {
  readonly message: BusMessage;
  readonly item: DecodedEvent;
  readonly outcome: Outcome | undefined;
}

interface AckDeps {
  readonly logger: IngestDeps["logger"];
  readonly backoff: RedeliveryBackoff;
  readonly orphans: OrphanTracker;
}

function acknowledge({ logger, backoff, orphans }: AckDeps, { message, item, outcome }: AckInput): void {
  if (outcome !== "waits" && outcome !== "unknown") {
    if (!backoff.isEmpty) backoff.reset(keyOf(item));
    if (!orphans.isEmpty) orphans.forget(item.execution);
    message.ack();
    return;
  }
  const exhausted = outcome === "unknown" && orphans.isOrphan(item.execution);
  const delayMs = exhausted ? undefined : backoff.nextDelayMs(keyOf(item));
  if (delayMs !== undefined) return message.nak(delayMs);
  logger.warn(describe(item), "event dropped: parent row not found after retries");
  message.ack();
  if (outcome === "unknown") void orphans.handleEvent(item);
}

function keyOf(item: DecodedEvent): string {
  const { kind, execution, order } = item;
  const event = `${kind} ${order} ${execution.project}/${execution.domain}/${execution.name}`;
  switch (item.kind) {
    case "node":
      return `${event}/${item.nodeId}`;
    case "task":
      return `${event}/${item.key.nodeId}/${item.key.retryAttempt}`;
    default:
      return event;
  }
}

function describe(item: DecodedEvent): Record<string, unknown> {
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
function lagOf({ fact: update }: DecodedEvent, now: Date): number {
  const reportedAt = "reportedAt" in update ? update.reportedAt : update.occurredAt;
  return Math.max(0, now.getTime() - Number(reportedAt / 1_000_000n)) / 1_000;
}
