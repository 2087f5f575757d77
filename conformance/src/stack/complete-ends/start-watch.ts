import { setTimeout as sleep } from "node:timers/promises";
import type { DatabaseEvidence } from "./database-evidence.js";

const LOOK_EVERY_MS = 700;

/** Records the first start that the database shows of each execution, node and attempt. */
export interface StartWatch {
  /** Starts by row id, ns since 1970. */
  readonly first: ReadonlyMap<string, bigint>;
  stop(): Promise<void>;
}

/** Polls the database and tolerates its outages. */
export function watchStarts(database: DatabaseEvidence, prefix: string): StartWatch {
  const first = new Map<string, bigint>();
  const stopping = new AbortController();
  const { signal } = stopping;
  const look = async () => {
    while (!signal.aborted) {
      const rows = await database.rows(prefix).catch(() => []);
      for (const { id, startedNs } of rows) if (startedNs !== undefined && !first.has(id)) first.set(id, startedNs);
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  };
  const looking = look();
  return {
    first,
    stop: () => {
      stopping.abort();
      return looking;
    },
  };
}
