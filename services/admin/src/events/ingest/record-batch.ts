import { isTransactionConflict, isUnavailable, type Queryable } from "@flyte-ts/postgres";
import { isTerminalNodeEvent, isTerminalTaskEvent, isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import type { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { recheckAllTerminalMark, recordActivity, type executionIds, nonTerminalRows } from "../../executions/index.js";
import type { ExecutionIds } from "./execution-ids.js";
import type { DecodedEvent, Outcome, BatchItem } from "../decoded-event.js";
import { recordNodes } from "./record-nodes.js";
import { recordBlockers } from "./record-blockers.js";
import { recordTasks } from "./record-tasks.js";
import { recordWorkflows } from "./record-workflows.js";

export interface BatchDeps {
  readonly db: Queryable;
  readonly ids: ExecutionIds;
  /**
   * Backfills nodes and attempts from the resources before the terminal states of their executions
   * are stored; returns the executions for which that fails now.
   */
  readonly completeEnds?: (executionIds: readonly bigint[]) => Promise<ReadonlySet<bigint>>;
  /** Called for each item whose row cannot be written, with the database's error. */
  readonly onRejected: (item: DecodedEvent, error: unknown) => void;
}

export interface BatchResult {
  /** One per item, in order. */
  readonly outcomes: readonly Outcome[];
  /** Executions with a terminal event, and their stored phases. */
  readonly ended: readonly {
    readonly execution: executionIds.ExecutionName;
    readonly rowId: bigint;
    readonly phase: WorkflowExecution_Phase;
    /** Number of its ended nodes that the engine reports; 0 when it reports none. */
    readonly nodes: number;
  }[];
  /** Row ids of the executions of all items. */
  readonly changed: readonly bigint[];
}

/** True when a terminal event may be deferred until all nodes and attempts are terminal. */
export type MayDefer = (end: DecodedEvent) => boolean;

type OfKind<Kind extends DecodedEvent["kind"]> = BatchItem<Extract<DecodedEvent, { kind: Kind }>>;

/**
 * Records a batch with one read and one write per kind of row, whatever its size. Safe under
 * repetition, reordering and concurrent replicas.
 *
 * @throws when the database is unavailable; the outcome is then unknown and the batch must be
 *   repeated.
 */
export async function recordBatch(deps: BatchDeps, items: readonly DecodedEvent[], mayDefer: MayDefer = () => false): Promise<BatchResult> {
  const outcomes: Outcome[] = items.map(() => "recorded");
  const ids = await deps.ids.resolve(deps.db, items);
  const workflows: OfKind<"workflow">[] = [];
  const nodes: OfKind<"node">[] = [];
  const tasks: OfKind<"task">[] = [];
  const notices: OfKind<"notice">[] = [];
  for (const [index, item] of items.entries()) {
    const executionId = ids[index];
    if (executionId === undefined) outcomes[index] = "unknown";
    else if (executionId === "foreign") outcomes[index] = "foreign";
    else if (item.kind === "workflow") workflows.push({ index, executionId, item });
    else if (item.kind === "node") nodes.push({ index, executionId, item });
    else if (item.kind === "notice") notices.push({ index, executionId, item });
    else tasks.push({ index, executionId, item });
  }
  const ended: BatchResult["ended"][number][] = [];
  const writer = new BisectingWriter(deps, outcomes);
  await writer.record(nodes, (part) => recordNodes(deps.db, part));
  await writer.record(tasks, async (part) => {
    for (const { index } of await recordTasks(deps.db, part)) outcomes[index] = "waits";
  });
  await writer.record(notices, (part) => recordBlockers(deps.db, part));
  await recordActivity(deps.db, [
    ...new Set([...workflows, ...nodes, ...tasks].filter(({ item }) => isActivity(item)).map(({ executionId }) => executionId)),
  ]);
  // Writes terminal events last: readers of a terminal execution then find its nodes and attempts
  // terminal.
  const endings = workflows.filter(({ item }) => isTerminalWorkflowEvent(item.fact.phase));
  const { open, deferred } = await deferCompletions(deps, endings, mayDefer);
  for (const { index } of deferred) outcomes[index] = "waits";
  const settled = new Set(endings.map(({ executionId }) => executionId).filter((id) => !open.has(id)));
  await writer.record(
    workflows.filter((placed) => !deferred.has(placed)),
    async (part) => {
      const states = await recordWorkflows(deps.db, part, settled);
      for (const { item, executionId } of part) {
        const phase = states.get(executionId)?.phase;
        if (phase !== undefined && isTerminalWorkflowEvent(item.fact.phase))
          ended.push({ execution: item.execution, rowId: executionId, phase, nodes: item.endedNodes ?? 0 });
      }
    },
  );
  // Includes executions whose terminal event was stored before: its writer may have crashed before
  // the check.
  await recheckAllTerminalMark(
    deps.db,
    endings.filter((placed) => !deferred.has(placed)).map(({ executionId }) => executionId),
  );
  return { outcomes, ended, changed: [...new Set(ids.filter((id) => typeof id === "bigint"))] };
}

/**
 * Chooses the terminal events of executions to defer. They are deferred while terminal events of
 * nodes and attempts may be in transit. Afterwards the missing ones are backfilled from the
 * resources, which are deleted once the execution's terminal event is stored.
 */
async function deferCompletions(
  { db, completeEnds }: BatchDeps,
  endings: readonly OfKind<"workflow">[],
  mayDefer: MayDefer,
): Promise<{ readonly open: ReadonlySet<bigint>; readonly deferred: ReadonlySet<OfKind<"workflow">> }> {
  const finished = endings.map(({ executionId, item }) => ({ executionId, endedNodes: item.endedNodes ?? 0 }));
  const open = await nonTerminalRows.incompleteExecutions(db, finished);
  const deferred = new Set(endings.filter(({ item, executionId }) => open.has(executionId) && mayDefer(item)));
  const due = endings.filter((ending) => open.has(ending.executionId) && !deferred.has(ending));
  if (due.length === 0 || completeEnds === undefined) return { open, deferred };
  const waiting = await completeEnds([...new Set(due.map(({ executionId }) => executionId))]);
  for (const ending of due) if (waiting.has(ending.executionId)) deferred.add(ending);
  return {
    open: await nonTerminalRows.executionsWithNonTerminalRows(
      db,
      finished.map(({ executionId }) => executionId),
    ),
    deferred,
  };
}

function isActivity(item: DecodedEvent): boolean {
  switch (item.kind) {
    case "workflow":
      return !isTerminalWorkflowEvent(item.fact.phase);
    case "notice":
      return false;
    case "node":
      return !isTerminalNodeEvent(item.fact.phase);
    case "task":
      return !isTerminalTaskEvent(item.fact.phase);
    default:
      return item satisfies never;
  }
}

/** Isolates the row that the database rejects, so that the rest of its batch is stored. */
class BisectingWriter {
  constructor(
    private readonly deps: BatchDeps,
    private readonly outcomes: Outcome[],
  ) {}

  async record<T extends BatchItem>(items: readonly T[], write: (items: readonly T[]) => Promise<void>): Promise<void> {
    if (items.length === 0) return;
    try {
      await write(items);
    } catch (error) {
      if (isUnavailable(error) || isTransactionConflict(error) || !isDataError(error)) throw error;
      const [only] = items;
      if (items.length === 1 && only !== undefined) {
        this.outcomes[only.index] = "unrecordable";
        this.deps.onRejected(only.item, error);
        return;
      }
      const middle = Math.ceil(items.length / 2);
      await this.record(items.slice(0, middle), write);
      await this.record(items.slice(middle), write);
    }
  }
}

/** True when the database rejected a value (SQLSTATE classes 22, 23, 54): a retry cannot help. */
function isDataError(error: unknown): boolean {
  return /^(22|23|54)/.test((error as { code?: string } | undefined)?.code ?? "");
}
