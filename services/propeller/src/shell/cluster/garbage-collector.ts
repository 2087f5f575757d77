import { setTimeout as sleep } from "node:timers/promises";
import { forEachConcurrent } from "@flyte-ts/async";
import type { KubeClient, KubeObject } from "@flyte-ts/kubernetes";
import {
  COMPLETED_TIME_LABEL,
  completedTimeLabel,
  FLYTE_WORKFLOW_RESOURCE,
  TERMINATED,
  TERMINATION_STATUS_LABEL,
} from "@flyte-ts/workflow-crd";
import type { Logger } from "@flyte-ts/telemetry";

export interface GarbageCollectorOptions {
  readonly client: Pick<KubeClient, "list" | "delete">;
  readonly logger: Logger;
  readonly namespace: string | undefined;
  /** Retention of a finished workflow's resource, ms. */
  readonly ttlMs: number;
  readonly now: () => number;
  /** Deletes the workflow's data outside of its resource. */
  readonly onDeleted: (meta: KubeObject["metadata"]) => Promise<void>;
  /** True when this process is the leader for garbage collection. */
  readonly isLeader: () => boolean;
}

const HOUR_MS = 3_600_000;
/** Maximum of concurrent deletions: other requests to the API server have priority. */
const CONCURRENCY = 4;
/** Maximum of resources per run; the rest waits for the next run. */
const MAX_PER_RUN = 5_000;

/**
 * Hours, as label values, whose workflows may still have to be retained. The label has only the
 * hour of the end, so all workflows of an hour expire when its last moment does, and none expires
 * early.
 */
export function retainedHours(now: number, ttlMs: number): string[] {
  const hours: string[] = [];
  const first = Math.floor((now - ttlMs) / HOUR_MS) * HOUR_MS;
  for (let at = first; at <= now; at += HOUR_MS) hours.push(completedTimeLabel(new Date(at)));
  return hours;
}

/**
 * Deletes the resources of workflows that ended before the retention time; owned objects go with
 * them. Resolves to their number. Selects only resources with the labels of a finished workflow,
 * never active ones.
 */
export async function deleteExpired({
  client,
  logger,
  namespace,
  ttlMs,
  now,
  onDeleted,
  isLeader,
}: GarbageCollectorOptions): Promise<number> {
  const keep = retainedHours(now(), ttlMs).join(",");
  const labelSelector = `${TERMINATION_STATUS_LABEL}=${TERMINATED},${COMPLETED_TIME_LABEL},${COMPLETED_TIME_LABEL} notin (${keep})`;
  const { items } = await client.list<KubeObject>(FLYTE_WORKFLOW_RESOURCE, { namespace, labelSelector, metadataOnly: true });
  const due = items.slice(0, MAX_PER_RUN);
  let deleted = 0;
  await forEachConcurrent(due, CONCURRENCY, async ({ metadata }) => {
    const { namespace: within, name, uid } = metadata;
    if (!isLeader() || !(await client.delete(FLYTE_WORKFLOW_RESOURCE, { namespace: within, name, uid }))) return;
    deleted++;
    await onDeleted(metadata);
  });
  if (deleted > 0) logger.info({ deleted, left: items.length - deleted }, "finished workflows deleted");
  return deleted;
}

export interface PeriodicCollectionOptions extends GarbageCollectorOptions {
  readonly intervalMs: number;
  readonly random: () => number;
}

/** Collects periodically while this process is the leader. Resolves to a handle that stops it. */
export function startGarbageCollector(options: PeriodicCollectionOptions): { close(): Promise<void> } {
  const { intervalMs, random, isLeader, logger } = options;
  const abort = new AbortController();
  const running = (async () => {
    for (;;) {
      await sleep(intervalMs * (0.5 + random()), undefined, { signal: abort.signal, ref: false }).catch(() => undefined);
      if (abort.signal.aborted) return;
      if (!isLeader()) continue;
      await deleteExpired(options).catch((error: unknown) =>
        logger.warn({ error: String(error) }, "finished workflows could not be deleted"),
      );
    }
  })();
  return {
    close: () => {
      abort.abort();
      return running;
    },
  };
}
