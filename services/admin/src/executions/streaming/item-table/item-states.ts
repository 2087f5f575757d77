import { isTerminalNodeEvent } from "@flyte-ts/domain/phase";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { NodeExecution_Phase, TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { NodePage } from "../../store/node-table/node-page.js";
import { type ItemReport, readItemEvent } from "./read-item-event.js";

/** State of an item, folded from the events of its array's attempt. */
interface ItemState {
  attempt: number;
  phase: TaskExecution_Phase;
  cacheStatus: CatalogCacheStatus;
  /** Time of its first event, milliseconds since the epoch. */
  readonly queuedMs: number;
  startedMs: number | undefined;
  endedMs: number | undefined;
}

/**
 * Phases of nodes that stand for phases of items. An attempt that another one may follow is
 * FAILING, since its item goes on.
 */
const NODE_PHASES: Readonly<Record<TaskExecution_Phase, NodeExecution_Phase>> = {
  [TaskExecution_Phase.UNDEFINED]: NodeExecution_Phase.UNDEFINED,
  [TaskExecution_Phase.QUEUED]: NodeExecution_Phase.QUEUED,
  [TaskExecution_Phase.INITIALIZING]: NodeExecution_Phase.QUEUED,
  [TaskExecution_Phase.WAITING_FOR_RESOURCES]: NodeExecution_Phase.QUEUED,
  [TaskExecution_Phase.RUNNING]: NodeExecution_Phase.RUNNING,
  [TaskExecution_Phase.RETRYABLE_FAILED]: NodeExecution_Phase.FAILING,
  [TaskExecution_Phase.SUCCEEDED]: NodeExecution_Phase.SUCCEEDED,
  [TaskExecution_Phase.FAILED]: NodeExecution_Phase.FAILED,
  [TaskExecution_Phase.ABORTED]: NodeExecution_Phase.ABORTED,
};
const MAX_BYTE = 255;

const nodePhase = (phase: TaskExecution_Phase): NodeExecution_Phase =>
  (NODE_PHASES as Record<number, NodeExecution_Phase>)[phase] ?? NodeExecution_Phase.UNDEFINED;

/** Items of an attempt of an array node by index, and those that have changed. */
export class ItemStates {
  readonly #createdMs: number;
  readonly #items = new Map<number, ItemState>();
  readonly #changed = new Set<number>();
  /** Time of the event before, milliseconds since the epoch; undefined before the first. */
  #previousMs: number | undefined;

  /** @param createdMs creation of the execution, from which times count, ms since the epoch */
  constructor(createdMs: number) {
    this.#createdMs = createdMs;
  }

  /** Applies an encoded event.TaskExecutionEvent that follows those before. */
  apply(event: Uint8Array): void {
    const { timeMs, items } = readItemEvent(event);
    for (const item of items) this.#report(item, timeMs);
    this.#previousMs = timeMs;
  }

  #report({ index, attempt, phase, cacheStatus }: ItemReport, timeMs: number): void {
    let item = this.#items.get(index);
    if (item === undefined) {
      item = { attempt, phase, cacheStatus, queuedMs: timeMs, startedMs: undefined, endedMs: undefined };
      this.#items.set(index, item);
    }
    // A late report of an earlier attempt says nothing about the item.
    if (attempt < item.attempt) return;
    item.attempt = attempt;
    item.phase = phase;
    if (cacheStatus !== CatalogCacheStatus.CACHE_DISABLED) item.cacheStatus = cacheStatus;
    if (phase === TaskExecution_Phase.RUNNING) item.startedMs ??= timeMs;
    // An item that ran and ended between two events began after the first of them.
    if (phase === TaskExecution_Phase.SUCCEEDED || phase === TaskExecution_Phase.FAILED)
      item.startedMs ??= Math.max(this.#previousMs ?? timeMs, item.queuedMs);
    item.endedMs = isTerminalNodeEvent(nodePhase(phase)) ? (item.endedMs ?? timeMs) : undefined;
    this.#changed.add(index);
  }

  /** Takes the items that have changed, as rows whose id is the item's index. */
  takeChanged(): NodePage {
    const changed = [...this.#changed].toSorted((a, b) => a - b);
    this.#changed.clear();
    const each = (valueOf: (item: ItemState) => number): number[] =>
      changed.map((index) => {
        const item = this.#items.get(index);
        return item === undefined ? 0 : valueOf(item);
      });
    const ids = changed.map(String);
    const none = ids.map(() => "");
    const zeros = new Uint8Array(changed.length);
    return {
      length: changed.length,
      // 0 stands for no row.
      key: changed.map((index) => index + 1),
      id: ids,
      parent: zeros,
      phase: each(({ phase }) => nodePhase(phase)),
      flags: zeros,
      cache: each(({ cacheStatus }) => (cacheStatus === CatalogCacheStatus.CACHE_DISABLED ? 0 : cacheStatus + 1)),
      attempts: each(({ attempt }) => Math.min(attempt + 1, MAX_BYTE)),
      queued: each(({ queuedMs }) => queuedMs - this.#createdMs),
      started: each(({ queuedMs, startedMs }) => (startedMs === undefined ? -1 : startedMs - queuedMs)),
      ended: each(({ queuedMs, endedMs }) => (endedMs === undefined ? -1 : endedMs - queuedMs)),
      entity: none,
      error: none,
      spec: ids,
    };
  }
}
