import { create } from "@bufbuild/protobuf";
import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { type ExternalResourceInfo, ExternalResourceInfoSchema, type TaskExecutionEvent } from "@flyte-ts/idl/flyteidl/event/event_pb";
import { itemId } from "./items.js";

/** An attempt of an item, as it is to be told. */
export interface ItemState {
  readonly index: number;
  readonly attempt: number;
  readonly phase: TaskExecution_Phase;
  readonly cacheStatus?: CatalogCacheStatus | undefined;
  /** What the plugin service told of it last. */
  readonly event?: TaskExecutionEvent | undefined;
}

/** What is new of an array's items since it was last told, and when it is told next. */
export class ItemNews {
  readonly #states = new Map<string, ItemState>();
  /** ms; of the last event. */
  toldAt: number | undefined;
  /** ms; when what is new is to be told. */
  tellAt: number | undefined;
  /** People know that items run. */
  toldRunning = false;

  get size(): number {
    return this.#states.size;
  }

  note(state: ItemState): void {
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

  /** By place and attempt; what was taken is new no more. */
  take(): readonly ItemState[] {
    const states = [...this.#states.values()].toSorted((a, b) => a.index - b.index || a.attempt - b.attempt);
    this.#states.clear();
    return states;
  }

  /** ms; when news that came `now` are told: the first item that runs at once, all else at most once in `pause`. */
  dueAt(now: number, pause: number): number {
    if (this.toldAt === undefined) return now;
    const runs = !this.toldRunning && [...this.#states.values()].some(({ phase }) => phase === TaskExecution_Phase.RUNNING);
    return runs ? now : this.toldAt + pause;
  }
}

/** `prefix` is the generated name of the array's own attempt. */
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
