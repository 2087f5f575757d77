import { type Backoff, backoffDelay, systemTime, type Time } from "@flyte-ts/async";
import type { Logger } from "@flyte-ts/telemetry";
import type { KubeClient, WatchEvent } from "./client/client.js";
import { isGone, KubeError } from "./client/errors.js";
import { type KubeObject, objectKey, type ResourceRef } from "./client/resources.js";

export interface InformerOptions<T extends KubeObject> {
  readonly client: Pick<KubeClient, "list" | "watch">;
  readonly ref: ResourceRef;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly logger: Logger;
  /**
   * Called in the order of the changes. `previous` is the cached object; on `deleted`, `object` is
   * its last known state. An error of it is logged, and the next changes follow.
   */
  readonly onEvent: (event: InformerEvent<T>) => void;
  /** Called for each answer by which the API has no such collection: its definition is gone. */
  readonly onMissing?: () => void;
  /** Fetch only the metadata of the objects. */
  readonly metadataOnly?: boolean;
  /** Silence after which a watch counts as dead, ms; default: the client's. */
  readonly idleTimeoutMs?: number;
  /**
   * Maps an object to the part that the cache keeps; default: all. Objects are readonly, since they
   * are shared. A state for which it throws is logged and left out: the cache keeps the last one
   * before it, so that no consumer sees a state that was not mapped.
   */
  readonly transform?: (object: T) => T;
  /** Clock of the delays before another watch. Default: the system's. */
  readonly time?: Pick<Time, "elapsed" | "sleep">;
}

export interface InformerEvent<T> {
  readonly type: "added" | "modified" | "deleted";
  readonly key: string;
  readonly object: Readonly<T>;
  readonly previous: Readonly<T> | undefined;
}

export interface Informer<T> {
  /** Resolves when the first list is in the cache. */
  readonly synced: Promise<void>;
  get(key: string): Readonly<T> | undefined;
  list(): Readonly<T>[];
  /** Milliseconds since the last list or watch event; since the start before the first list. */
  lagMs(): number;
  stop(): Promise<void>;
}

/** Delays before another watch after failures. */
const RECONNECTS: Backoff = { initialMs: 100, maxMs: 5_000, jitter: 0.5 };
/** A watch that ends sooner counts as failed. */
const MIN_WATCH_MS = 1_000;

/**
 * A local cache of a collection: lists once, then watches; on 410 or a broken stream resumes or
 * lists again, with backoff.
 */
export function createInformer<T extends KubeObject>(options: InformerOptions<T>): Informer<T> {
  const informer = new ListWatch(options);
  informer.start();
  return informer;
}

class ListWatch<T extends KubeObject> implements Informer<T> {
  readonly synced: Promise<void>;
  #resolveSynced: () => void = () => undefined;
  readonly #cache = new Map<string, T>();
  readonly #abort = new AbortController();
  #resourceVersion: string | undefined;
  readonly #time: Pick<Time, "elapsed" | "sleep">;
  #lastEventAt: number;
  #running: Promise<void> = Promise.resolve();

  constructor(private readonly options: InformerOptions<T>) {
    this.synced = new Promise((resolve) => {
      this.#resolveSynced = resolve;
    });
    this.#time = options.time ?? systemTime;
    this.#lastEventAt = this.#time.elapsed();
  }

  start(): void {
    this.#running = this.#run();
  }

  get(key: string): Readonly<T> | undefined {
    return this.#cache.get(key);
  }

  list(): Readonly<T>[] {
    return [...this.#cache.values()];
  }

  lagMs(): number {
    return this.#time.elapsed() - this.#lastEventAt;
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    const time = this.#time;
    let failures = 0;
    while (!signal.aborted) {
      let retryAfterMs = 0;
      try {
        if (this.#resourceVersion === undefined) await this.#relist();
        const startedAt = time.elapsed();
        await this.#watch();
        // A stream that keeps ending at once is a failure too.
        failures = time.elapsed() - startedAt > MIN_WATCH_MS ? 0 : failures + 1;
      } catch (error) {
        if (signal.aborted) return;
        if (isGone(error)) this.#resourceVersion = undefined;
        if (error instanceof KubeError && error.status === 404) this.options.onMissing?.();
        failures++;
        retryAfterMs = (error instanceof KubeError && error.retryAfterMs) || 0;
        const { plural } = this.options.ref;
        this.options.logger.warn({ resource: plural, error: String(error), failures }, "the watch was interrupted and is retried");
      }
      if (failures > 0) {
        const delayMs = Math.max(retryAfterMs, backoffDelay(RECONNECTS, failures - 1, Math.random));
        await time.sleep(delayMs, signal).catch(() => undefined);
      }
    }
  }

  async #relist(): Promise<void> {
    const { client, ref, namespace, labelSelector, fieldSelector, metadataOnly } = this.options;
    const { items, metadata } = await client.list<T>(ref, { namespace, labelSelector, fieldSelector, metadataOnly });
    const present = new Set<string>();
    for (const object of items) {
      present.add(objectKey(object));
      this.#put(object);
    }
    for (const [key, object] of this.#cache) if (!present.has(key)) this.#remove(object);
    this.#resourceVersion = metadata.resourceVersion;
    this.#lastEventAt = this.#time.elapsed();
    this.#resolveSynced();
  }

  async #watch(): Promise<void> {
    const { client, ref, namespace, labelSelector, fieldSelector, metadataOnly, idleTimeoutMs } = this.options;
    const stream = client.watch<T>(ref, {
      namespace,
      labelSelector,
      fieldSelector,
      metadataOnly,
      idleTimeoutMs,
      resourceVersion: this.#resourceVersion as string,
      signal: this.#abort.signal,
    });
    for await (const event of stream) {
      this.#lastEventAt = this.#time.elapsed();
      this.#handleEvent(event);
    }
  }

  #handleEvent({ type, object }: WatchEvent<T>): void {
    switch (type) {
      case "ADDED":
      case "MODIFIED":
        this.#put(object);
        break;
      case "DELETED":
        this.#remove(this.#transform(object) ?? this.#cache.get(objectKey(object)));
        break;
      case "BOOKMARK":
        break;
      case "ERROR": {
        const status = object as unknown as { code?: number; message?: string; reason?: string };
        throw new KubeError(status.message ?? "watch failed", { status: status.code ?? 500, reason: status.reason ?? "" });
      }
    }
    this.#resourceVersion = object.metadata.resourceVersion ?? this.#resourceVersion;
  }

  #put(object: T): void {
    const key = objectKey(object);
    const previous = this.#cache.get(key);
    if (previous?.metadata.resourceVersion === object.metadata.resourceVersion && previous !== undefined) return;
    const transformed = this.#transform(object);
    if (transformed === undefined) return;
    this.#cache.set(key, transformed);
    this.#notify({ type: previous === undefined ? "added" : "modified", key, object: transformed, previous });
  }

  #remove(object: T | undefined): void {
    if (object === undefined) return;
    const key = objectKey(object);
    const previous = this.#cache.get(key);
    this.#cache.delete(key);
    this.#notify({ type: "deleted", key, object, previous });
  }

  /** Undefined for an object that cannot be mapped: one object must not stop the watch of all. */
  #transform(object: T): T | undefined {
    const { transform = (whole: T) => whole } = this.options;
    try {
      return transform(object);
    } catch (error) {
      this.#logFault(objectKey(object), error, "an object cannot be read and is left out until it changes");
      return undefined;
    }
  }

  #notify(event: InformerEvent<T>): void {
    try {
      this.options.onEvent(event);
    } catch (error) {
      this.#logFault(event.key, error, "a change of an object cannot be handled and is passed over");
    }
  }

  #logFault(object: string, error: unknown, text: string): void {
    const { logger, ref } = this.options;
    logger.error({ resource: ref.plural, object, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }, text);
  }
}
