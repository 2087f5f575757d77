import { BatchQueue, type Backoff, backoffDelay, Semaphore } from "@flyte-ts/async";
import { deleteOwnResource, findCluster } from "../../../clusters/index.js";
import { deletionQueue } from "../../../executions/index.js";
import { namespaceOf, type QueueHandler, requeue } from "../../../platform/index.js";
import { AttemptReader } from "./attempt-reader.js";
import { BlobDeleter } from "./blob-deleter.js";
import { claimDeletions, type ClaimedDeletion, type DeletionDeps, LEASE_MS, nameOf } from "./claimed-deletion.js";
import { confirmTrees } from "./confirm-trees.js";
import { deleteBlobs } from "./delete-blobs.js";
import { deleteRows, type EmptiedExecution } from "./delete-rows.js";
import { SharedFolders } from "./shared-folders.js";

/**
 * Time in which requests of concurrent deletions are gathered, ms: deletions are not urgent, and
 * large batches cost less.
 */
const GATHER_MS = 25;
const BACKOFF: Backoff = { initialMs: 10_000, maxMs: 3_600_000, jitter: 0.5 };
/** Trees that one query reads. */
const TREES = 64;
/** Executions whose rows one transaction deletes. */
const EXECUTIONS = 128;
/** Lists of blobs at a time: other callers share the connections to the blob store. */
const LISTS = 16;

/**
 * Processes the deletions that are due. Each execution is deleted on its own, and fails on its own;
 * concurrent deletions share requests to the database and the blob store.
 */
export function createDeletionHandler(deps: DeletionDeps): QueueHandler<ClaimedDeletion> {
  const deletion = new Deletion(deps);
  return {
    table: deletionQueue.DELETIONS,
    leaseMs: LEASE_MS,
    concurrency: deps.config.retention.concurrency,
    pollMs: 2_000,
    claim: (limit) => claimDeletions(deps, limit),
    process: async (one) => {
      try {
        await deletion.run(one);
      } catch (error) {
        await failed(deps, one, error);
      }
    },
    errorMessage: "executions could not be deleted; retrying",
  };
}

class Deletion {
  readonly #deps: DeletionDeps;
  readonly #confirming: BatchQueue<ClaimedDeletion, ClaimedDeletion | undefined>;
  readonly #deletingRows: BatchQueue<EmptiedExecution>;
  readonly #shared: SharedFolders;
  readonly #attempts: AttemptReader;
  readonly #deleter: BlobDeleter;
  readonly #lists = new Semaphore(LISTS);

  constructor(deps: DeletionDeps) {
    const { db, blobs, config, sleep, metrics, clock } = deps;
    const gather = () => sleep(GATHER_MS);
    this.#deps = deps;
    this.#confirming = new BatchQueue({ maxItems: TREES, isItemError: () => true, process: (claimed) => confirmTrees(deps, claimed) });
    this.#deletingRows = new BatchQueue({
      maxItems: EXECUTIONS,
      isItemError: () => true,
      gather,
      process: async (emptied) => {
        await deleteRows(db, emptied, clock());
        return emptied.map(() => undefined);
      },
    });
    this.#shared = new SharedFolders(db);
    this.#attempts = new AttemptReader(db, new Set(config.retention.pluginsWithoutRawOutputs));
    this.#deleter = new BlobDeleter({
      blobs,
      blobsPerSecond: config.retention.blobsPerSecond,
      sleep,
      gather,
      onBatch: (count) => metrics.blobs.inc(count),
    });
  }

  /** Deletes blobs, resource, child rows, then the row: an interrupted deletion can resume. */
  async run(claimed: ClaimedDeletion): Promise<void> {
    const one = claimed.confirmed ? claimed : await this.#confirming.run(claimed);
    if (one === undefined) return;
    const { blobs: store, config, metrics, logger } = this.#deps;
    const blobs = await deleteBlobs(
      {
        blobs: store,
        storage: config.storage,
        shared: this.#shared,
        attempts: this.#attempts,
        deleter: this.#deleter,
        lists: this.#lists,
      },
      one,
    );
    await deleteResource(this.#deps, one);
    await this.#deletingRows.run({ one, blobs });
    metrics.executions.inc({ by: one.byPolicy ? "policy" : "request" });
    logger.info({ execution: nameOf(one), blobs }, "execution deleted");
  }
}

/**
 * Deletes the FlyteWorkflow of the execution, if it is still there. A failure does not stop the
 * deletion, since the data plane may be gone: propeller deletes resources of ended executions after
 * a day.
 */
async function deleteResource({ clusters, config, logger }: DeletionDeps, one: ClaimedDeletion): Promise<void> {
  const cluster = findCluster(clusters, one.cluster);
  const namespace = namespaceOf(config.namespaceTemplate, one.project, one.domain);
  try {
    if (cluster !== undefined) await deleteOwnResource(cluster.kube, { namespace, owner: one });
  } catch (error) {
    logger.warn({ execution: nameOf(one), error: String(error) }, "the resource of a deleted execution stays until propeller deletes it");
  }
}

async function failed({ db, clock, random, logger, metrics }: DeletionDeps, one: ClaimedDeletion, error: unknown): Promise<void> {
  const delayMs = backoffDelay(BACKOFF, one.attempts - 1, random);
  metrics.failures.inc();
  logger.warn({ execution: nameOf(one), attempts: one.attempts, error: String(error) }, "execution could not be deleted; retrying");
  await requeue(db, deletionQueue.DELETIONS, { row: one, delayMs, reason: String(error), now: clock() });
}
