import type { Queryable } from "@flyte-ts/postgres";
import { isPartOfHistory, foldTask, type TaskState } from "@flyte-ts/execution-state";
import {
  appendTaskEvents,
  loadTasks,
  saveTasks,
  type TaskEventWrite,
  type TaskKey,
  taskKeyText,
  type TaskWrite,
  TooManyConflictsError,
} from "../../executions/index.js";
import { groupBy, type NonEmpty } from "./group-by.js";
import type { DecodedEvent, BatchItem } from "../decoded-event.js";

type TaskBatchItem = BatchItem<Extract<DecodedEvent, { kind: "task" }>>;
type Group = NonEmpty<TaskBatchItem>;

const ROUNDS = 20;
const keyOf = ({ executionId, item }: TaskBatchItem): TaskKey => ({ executionId, ...item.key });

/** Records task events; returns those whose node has no row yet. */
export async function recordTasks(db: Queryable, items: readonly TaskBatchItem[]): Promise<readonly TaskBatchItem[]> {
  const waiting: TaskBatchItem[] = [];
  const history: TaskEventWrite[] = [];
  let open = groupBy(items, (item) => taskKeyText(keyOf(item)));
  for (let round = 0; open.size > 0; round++) {
    if (round === ROUNDS) throw new TooManyConflictsError(`${open.size} task executions could not be changed`);
    const groups = [...open];
    const stored = await loadTasks(
      db,
      groups.map(([, [item]]) => keyOf(item)),
    );
    const writes = new Map<string, { readonly write: TaskWrite; readonly events: readonly Omit<TaskEventWrite, "rowId">[] }>();
    for (const [index, [key, group]] of groups.entries()) {
      const before = stored[index];
      if (before === "no-node") {
        waiting.push(...group);
        continue;
      }
      const { state, events } = foldGroup(before?.state, group);
      if (state === before?.state) {
        // The state is unchanged, but a crash may have come between the row and its history.
        if (before !== undefined) history.push(...events.map((event) => ({ ...event, rowId: before.rowId })));
        continue;
      }
      writes.set(key, { write: { ...keyOf(group[0]), state, revision: (before?.revision ?? 0) + 1 }, events });
    }
    if (writes.size === 0) break;
    const saved = await saveTasks(
      db,
      [...writes.values()].map(({ write }) => write),
    );
    for (const [key, rowId] of saved) history.push(...(writes.get(key)?.events ?? []).map((event) => ({ ...event, rowId })));
    open = new Map([...open].filter(([key]) => writes.has(key) && !saved.has(key)));
  }
  await appendTaskEvents(db, history);
  return waiting;
}

function foldGroup(before: TaskState | undefined, group: Group): { state: TaskState; events: Omit<TaskEventWrite, "rowId">[] } {
  const events: Omit<TaskEventWrite, "rowId">[] = [];
  let state = before;
  for (const { item } of group) {
    const repeatsEnd = state !== undefined && item.order === state.phaseSeq && item.fact.phase === state.phase;
    if (repeatsEnd || isPartOfHistory(state, item.fact)) events.push({ order: item.order, event: item.fact.event });
    state = foldTask(state, item.fact, item.order);
  }
  return { state: state as TaskState, events };
}
