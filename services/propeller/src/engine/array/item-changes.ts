import { create } from "@bufbuild/protobuf";
import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { type ExternalResourceInfo, ExternalResourceInfoSchema, type TaskExecutionEvent } from "@flyte-ts/idl/flyteidl/event/event_pb";
import { itemId } from "./items.js";

/** Reported state of an item's attempt. */
export interface ItemState {
  readonly index: number;
  readonly attempt: number;
  readonly phase: TaskExecution_Phase;
  readonly cacheStatus?: CatalogCacheStatus | undefined;
  /** Last event of the plugin service. */
  readonly event?: TaskExecutionEvent | undefined;
}

/** Item changes since the array's last event, and the time of the next one. */
export class ItemChanges {
  readonly #states = new Map<string, ItemState>();
  /** Time of the last event, ms. */
  publishedAt: number | undefined;
  /** Time at which changes are published, ms. */
  publishAt: number | undefined;
  /** An event has reported running items. */
  runningPublished = false;

  get size(): number {
    return this.#states.size;
  }

  record(state: ItemState): void {
    const key = `${state.index}/${state.attempt}`;
    const known = this.#states.get(key);
    this.#states.set(key, {
      ...state,
      event: state.event ?? known?.event,
      cacheStatus: state.cacheStatus ?? known?.cacheStatus,
    });
  }

  find(index: number, attempt: number): ItemState | undefined {
    return this.#states.get(`${index}/${attempt}`);
  }

  /** Returns the changes by index and attempt, and clears them. */
  drain(): readonly ItemState[] {
    const states = [...this.#states.values()].toSorted((a, b) => a.index - b.index || a.attempt - b.attempt);
    this.#states.clear();
    return states;
  }

  /**
   * Time at which changes made `now` are published, ms: at once for the first running item, else at
   * most once per `interval`.
   */
  dueAt(now: number, interval: number): number {
    if (this.publishedAt === undefined) return now;
    const firstRunning = !this.runningPublished && [...this.#states.values()].some(({ phase }) => phase === TaskExecution_Phase.RUNNING);
    return firstRunning ? now : this.publishedAt + interval;
  }
}

/** `prefix`: generated name of the array's own attempt. */
export function externalResource(state: ItemState, prefix: string): ExternalResourceInfo {
  const { index, attempt, phase, event } = state;
  return create(ExternalResourceInfoSchema, {
    externalId: `${prefix}-${itemId(index)}-${attempt}`,
    index,
    retryAttempt: attempt,
    phase,
    cacheStatus: state.cacheStatus ?? CatalogCacheStatus.CACHE_DISABLED,
    logs: (event?.logs ?? []).map((log) => ({ ...log, name: `${log.name}-${index}` })),
    customInfo: event?.metadata?.externalResources.length === 1 ? event.metadata.externalResources[0]?.customInfo : event?.customInfo,
  });
}
