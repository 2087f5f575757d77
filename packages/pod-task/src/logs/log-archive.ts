import { create } from "@bufbuild/protobuf";
import { attemptLogTag } from "@flyte-ts/domain/name";
import { retry, type RetryOptions, Semaphore, type Time } from "@flyte-ts/async";
import { type TaskLog, TaskLogSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { BlobUnavailableError } from "@flyte-ts/blobstore";
import { isTransient, type KubeClient } from "@flyte-ts/kubernetes";
import { attemptKey } from "@flyte-ts/task-plugin";
import type { Logger } from "@flyte-ts/telemetry";
import type { DataStore } from "../result/data-store.js";
import type { Pod } from "../pod-types.js";
import { takeOf } from "../warm/reused/attempt-end.js";
import { selectTaggedLines } from "./select-tagged-lines.js";
import { tailBytes } from "./tail-bytes.js";

export interface LogArchiveConfig {
  readonly enabled: boolean;
  /** Maximum size of a copy, bytes; of a longer log the end is kept. */
  readonly maxBytes: number;
}

export interface LogArchiveDeps {
  readonly client: Pick<KubeClient, "podLog">;
  readonly store: Pick<DataStore, "put">;
  readonly clock: Time;
  readonly logger: Logger;
  readonly config: LogArchiveConfig;
}

/**
 * Maximum number of logs copied at the same time. It bounds the memory, which holds each log while
 * it is copied.
 */
const AT_ONCE = 4;
const RETRIES: RetryOptions = { initialMs: 1_000, maxMs: 3_000, maxRetries: 3 };
const TIMEOUT_MS = 30_000;
/** Name by which admin recognizes such a link; the container's name follows. */
const LINK_NAME = "Archived log of ";

interface ArchivedContainer {
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
  readonly uri: string;
  /** Marks the lines of the attempt in a log of several attempts. */
  readonly tag: string | undefined;
}

/**
 * Copies the logs of ended pods beside the attempt's outputs, so that they outlive the pods.
 * Copying starts once the end is known and does not delay its report; only the deletion of the pod
 * waits for it.
 */
export class LogArchive {
  readonly #copies = new Map<string, Promise<void>>();
  readonly #permits = new Semaphore(AT_ONCE);

  constructor(private readonly deps: LogArchiveDeps) {}

  /** Starts copying the logs of a pod's ended containers. Returns links to the future copies. */
  archive(pod: Pod, request: TaskRequest): TaskLog[] {
    const { namespace = "", name } = pod.metadata;
    if (!this.deps.config.enabled) return [];
    const terminated = (pod.status?.containerStatuses ?? []).filter(({ state }) => state?.terminated !== undefined);
    const tag = takeOf(pod) === undefined ? undefined : attemptLogTag(request);
    const logs = terminated.map(({ name: container }) => ({
      namespace,
      name,
      container,
      tag,
      uri: `${request.outputPrefix}/logs/${container}.log`,
    }));
    const key = attemptKey(request);
    const copy = Promise.all(logs.map((log) => this.#permits.run(() => this.#copy(log)))).then(() => {
      if (this.#copies.get(key) === copy) this.#copies.delete(key);
    });
    if (logs.length > 0) this.#copies.set(key, copy);
    return logs.map(({ container, uri }) => create(TaskLogSchema, { uri, name: `${LINK_NAME}${container}` }));
  }

  /** Resolves when no log of the attempt is being copied. */
  async waitUntilArchived(request: TaskRequest): Promise<void> {
    await this.#copies.get(attemptKey(request));
  }

  async #copy({ uri, tag, ...log }: ArchivedContainer): Promise<void> {
    const { client, store, config, logger, clock } = this.deps;
    const copyOnce = async () => {
      const parts = client.podLog({ ...log, follow: false, signal: AbortSignal.timeout(TIMEOUT_MS) });
      const own = tag === undefined ? parts : selectTaggedLines(parts, tag);
      await store.put(uri, await tailBytes(own, config.maxBytes), { contentType: "text/plain; charset=utf-8" });
    };
    const isRetryable = (error: unknown) => isTransient(error) || error instanceof BlobUnavailableError;
    try {
      await retry(copyOnce, { ...RETRIES, isRetryable }, clock);
    } catch (error) {
      logger.warn({ pod: `${log.namespace}/${log.name}`, error: String(error) }, "cannot archive the log of a container");
    }
  }
}
