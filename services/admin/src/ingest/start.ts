import { EVENT_STREAM, executionEventFilter, taskEventFilter } from "@flyte-ts/domain";
import type { BusMessage, Subscription } from "@flyte-ts/messaging";
import type { AdminDeps } from "../deps.js";
import { offloadNames } from "../event/offload-names.js";
import { decodeMessage } from "./decode.js";
import { ExecutionIds } from "./execution-ids.js";
import type { Item } from "./item.js";
import { type BatchDeps, recordBatch } from "./record-batch.js";
import { publishRecorded } from "./recorded.js";

export type IngestDeps = Pick<AdminDeps, "db" | "bus" | "logger" | "clock" | "config">;

const BATCH = 1_000;
/** Deliveries after which an event for something that is still not there is dropped: with the delays below, about two minutes. */
const MAX_WAITS = 20;

/** Takes events from the bus into the database until it is closed. Any number of replicas share the work. */
export async function startIngest(deps: IngestDeps): Promise<Subscription> {
  const { bus, db, logger } = deps;
  const names = offloadNames(deps.config);
  const batch: BatchDeps = {
    db,
    ids: new ExecutionIds(),
    onUnrecordable: (item, error) => logger.error({ ...describe(item), error: String(error) }, "event dropped: the database refuses it"),
  };
  return bus.subscribe(
    {
      stream: EVENT_STREAM.name,
      durable: "admin-ingest",
      subjects: [executionEventFilter, taskEventFilter],
      maxInFlight: 4 * BATCH,
      batch: BATCH,
    },
    async (messages) => {
      const read: { message: BusMessage; item: Item }[] = [];
      for (const message of messages) {
        try {
          read.push({ message, item: decodeMessage(message.subject, message.data, names) });
        } catch (error) {
          logger.error({ subject: message.subject, bytes: message.data.length, error: String(error) }, "event dropped: it cannot be read");
          message.ack();
        }
      }
      const { outcomes, ended } = await recordBatch(
        batch,
        read.map(({ item }) => item),
      );
      for (const [index, { message, item }] of read.entries()) settle(deps, { message, item, waits: outcomes[index] === "waits" });
      for (const { execution, phase } of ended) publishRecorded(deps, execution, phase);
    },
  );
}

function settle({ logger }: IngestDeps, { message, item, waits }: { message: BusMessage; item: Item; waits: boolean }): void {
  if (!waits) message.ack();
  else if (message.deliveries < MAX_WAITS) message.nak(Math.min(50 * 2 ** (message.deliveries - 1), 10_000));
  else {
    logger.warn(describe(item), "event dropped: what it belongs to never came");
    message.ack();
  }
}

function describe(item: Item): Record<string, unknown> {
  const { project, domain, name } = item.execution;
  const execution = `${project}/${domain}/${name}`;
  switch (item.kind) {
    case "workflow":
      return { kind: item.kind, execution, phase: item.fact.phase };
    case "node":
      return { kind: item.kind, execution, node: item.nodeId, phase: item.fact.phase };
    case "task":
      return { kind: item.kind, execution, node: item.key.nodeId, attempt: item.key.retryAttempt, phase: item.fact.phase };
    default:
      return item satisfies never;
  }
}
