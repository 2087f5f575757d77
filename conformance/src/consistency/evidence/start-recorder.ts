import { setTimeout as sleep } from "node:timers/promises";
import type { DatabaseEvidence } from "./database-evidence.js";

const POLL_INTERVAL_MS = 700;

/** Records the first start that the database shows of each execution, node and attempt. */
export interface StartRecorder {
  /** Starts by row id, ns since 1970. */
  readonly first: ReadonlyMap<string, bigint>;
  stop(): Promise<void>;
}

/** Polls the database and tolerates its outages. */
export function recordStarts(database: DatabaseEvidence, prefix: string): StartRecorder {
  const first = new Map<string, bigint>();
  const stopping = new AbortController();
  const { signal } = stopping;
  const poll = async () => {
    while (!signal.aborted) {
      const rows = await database.rows(prefix).catch(() => []);
      for (const { id, startedNs } of rows) if (startedNs !== undefined && !first.has(id)) first.set(id, startedNs);
      await sleep(POLL_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
    }
  };
  const polling = poll();
  return {
    first,
    stop: () => {
      stopping.abort();
      return polling;
    },
  };
}
