import { BatchQueue } from "@flyte-ts/async";
import type { Queryable } from "@flyte-ts/postgres";
import { deletionQueue } from "../../../executions/index.js";
import { executionsSharingFolder } from "./storage-paths.js";
import type { ClaimedDeletion } from "./claimed-deletion.js";

/** Executions of one query. */
const EXECUTIONS = 64;

/** Folders of an execution that another one needs: the deletion of the last one includes them. */
export interface Shared {
  readonly metadata: boolean;
  /** Folders of raw outputs are named after the execution's name alone. */
  readonly rawOutputs: boolean;
}

/** Finds shared folders of concurrent deletions in common queries. */
export class SharedFolders {
  readonly #queries: BatchQueue<ClaimedDeletion, Shared>;

  constructor(db: Queryable) {
    this.#queries = new BatchQueue({ maxItems: EXECUTIONS, isItemError: () => true, process: (claimed) => findShared(db, claimed) });
  }

  of(one: ClaimedDeletion): Promise<Shared> {
    return this.#queries.run(one);
  }
}

/**
 * Executions whose deletion is confirmed need no folder. Otherwise two of one batch, or of two
 * replicas, would leave a common folder to each other.
 */
async function findShared(db: Queryable, claimed: readonly ClaimedDeletion[]): Promise<readonly Shared[]> {
  const [sharing, named] = await Promise.all([
    deletionQueue.findSharingAny(
      db,
      claimed.map((one) => ({ id: one.id, others: executionsSharingFolder(one) })),
    ),
    deletionQueue.findSameNamed(db, claimed),
  ]);
  return claimed.map(({ id }) => ({ metadata: sharing.has(id), rawOutputs: named.has(id) }));
}
