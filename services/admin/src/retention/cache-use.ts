import { fromBinary } from "@bufbuild/protobuf";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { type ExternalResourceInfo, TaskExecutionEventSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { Queryable } from "@flyte-ts/postgres";

/** What an attempt's events tell of the cache, and of its items if it is an array's. */
export interface AttemptFacts {
  readonly storedInCache: boolean;
  /** Items with the attempts of them that began. */
  readonly items: readonly { readonly index: number; readonly attempt: number }[];
}

/** Facts of attempts by the number of their row. */
export async function attemptFacts(db: Queryable, ids: readonly bigint[]): Promise<ReadonlyMap<bigint, AttemptFacts>> {
  const { rows } = await db.query<{ id: bigint; event: Uint8Array }>({
    name: "attempt-events-for-retention",
    text: "SELECT task_execution_id AS id, event FROM task_execution_events WHERE task_execution_id = ANY($1::bigint[])",
    values: [ids],
  });
  const facts = new Map<bigint, AttemptFacts>();
  for (const [id, events] of Map.groupBy(rows, (row) => row.id)) {
    const told = events.map(({ event }) => resourcesOf(event));
    const resources = told.flatMap((each) => each ?? []);
    facts.set(id, {
      // What cannot be read may have told so.
      storedInCache: told.includes(undefined) || resources.some(({ cacheStatus }) => cacheStatus === CatalogCacheStatus.CACHE_POPULATED),
      items: resources.map(({ index, retryAttempt }) => ({ index, attempt: retryAttempt })),
    });
  }
  return facts;
}

/** Undefined when the event cannot be read: it must not keep its execution, and others that are looked at with it, for ever. */
function resourcesOf(event: Uint8Array): readonly ExternalResourceInfo[] | undefined {
  try {
    return fromBinary(TaskExecutionEventSchema, event).metadata?.externalResources ?? [];
  } catch {
    return undefined;
  }
}

/**
 * Those of the trees in which a task's outputs went to the cache. An entry holds the addresses of what the task wrote, and
 * of what it was given and passed on, which any execution of the tree may have written.
 */
export async function treesInCache(db: Queryable, members: ReadonlyMap<bigint, bigint>): Promise<ReadonlySet<bigint>> {
  const ids = [...members.keys()];
  const stored = CatalogCacheStatus[CatalogCacheStatus.CACHE_POPULATED];
  const { rows } = await db.query<{ execution_id: bigint }>({
    name: "executions-in-cache",
    text: "SELECT DISTINCT execution_id FROM node_executions WHERE execution_id = ANY($1::bigint[]) AND cache_status = $2",
    values: [ids, stored],
  });
  const found = new Set(rows.flatMap((row) => members.get(row.execution_id) ?? []));
  // Items of arrays are told in their attempts' events.
  const { rows: arrays } = await db.query<{ id: bigint; execution_id: bigint }>({
    name: "array-attempts-of-executions",
    text: `SELECT t.id, t.execution_id FROM task_executions t JOIN node_executions n ON n.execution_id = t.execution_id AND n.node_id = t.node_id
      WHERE t.execution_id = ANY($1::bigint[]) AND n.is_array`,
    values: [ids],
  });
  for (const { id, execution_id: execution } of arrays) {
    const root = members.get(execution);
    if (root === undefined || found.has(root)) continue;
    if ((await attemptFacts(db, [id])).get(id)?.storedInCache === true) found.add(root);
  }
  return found;
}
