import { setTimeout as sleep } from "node:timers/promises";
import type { DatabaseEvidence } from "./database-evidence.js";

const LOOK_EVERY_MS = 700;

/** Remembers the first start that is recorded of each execution, node and attempt, while they run. */
export interface StartWatch {
  /** By the row's id, ns since 1970. */
  readonly first: ReadonlyMap<string, bigint>;
  stop(): Promise<void>;
}

/** Looks again and again, over outages of the database. */
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
