import { fromBinary } from "@bufbuild/protobuf";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { TaskExecutionEventSchema, type TaskExecutionMetadata } from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { executionsWithCacheStatus, attemptQueries } from "../../../executions/index.js";

/**
 * Facts from the events of an attempt: whether it filled the cache, the items of an array, and the
 * plugins that ran it.
 */
export interface AttemptFacts {
  readonly storedInCache: boolean;
  /** Empty names for events without one. */
  readonly plugins: ReadonlySet<string>;
  /** Items with their started attempts. */
  readonly items: readonly { readonly index: number; readonly attempt: number }[];
}

/** Reads these facts for attempts by row id. */
export async function attemptFacts(db: Queryable, ids: readonly bigint[]): Promise<ReadonlyMap<bigint, AttemptFacts>> {
  const rows = await attemptQueries.loadEventsOfAttempts(db, ids);
  const facts = new Map<bigint, AttemptFacts>();
  for (const [id, events] of Map.groupBy(rows, (row) => row.id)) {
    const reported = events.map(({ event }) => metadataOf(event));
    const resources = reported.flatMap((each) => each?.externalResources ?? []);
    facts.set(id, {
      // An undecodable event may have reported that outputs were cached.
      storedInCache:
        reported.includes(undefined) || resources.some(({ cacheStatus }) => cacheStatus === CatalogCacheStatus.CACHE_POPULATED),
      plugins: new Set(reported.map((each) => each?.pluginIdentifier ?? "")),
      items: resources.map(({ index, retryAttempt }) => ({ index, attempt: retryAttempt })),
    });
  }
  return facts;
}

/**
 * Undefined for an undecodable event, which must not permanently block its execution and others of
 * the same batch.
 */
function metadataOf(event: Uint8Array): Partial<TaskExecutionMetadata> | undefined {
  try {
    return fromBinary(TaskExecutionEventSchema, event).metadata ?? {};
  } catch {
    return undefined;
  }
}

/**
 * Returns the trees in which a task's outputs were cached. A cache entry contains URIs of the
 * task's outputs, and of inputs that it passed on, which any execution of the tree may have
 * written.
 */
export async function treesReferencedByCache(db: Queryable, members: ReadonlyMap<bigint, bigint>): Promise<ReadonlySet<bigint>> {
  const ids = [...members.keys()];
  const stored = CatalogCacheStatus[CatalogCacheStatus.CACHE_POPULATED];
  const found = new Set((await executionsWithCacheStatus(db, ids, stored)).flatMap((id) => members.get(id) ?? []));
  // Items of arrays are reported in the events of their attempts.
  for (const { id, execution_id: execution } of await attemptQueries.findArrayAttempts(db, ids)) {
    const root = members.get(execution);
    if (root === undefined || found.has(root)) continue;
    if ((await attemptFacts(db, [id])).get(id)?.storedInCache === true) found.add(root);
  }
  return found;
}
