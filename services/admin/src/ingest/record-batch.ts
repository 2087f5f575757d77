import { isTransactionConflict, isUnavailable, type Queryable } from "@flyte-ts/postgres";
import { isTerminalNodeEvent, isTerminalTaskEvent, isTerminalWorkflowEvent } from "@flyte-ts/domain";
import type { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { namespaceOf } from "../execution/namespace.js";
import type { ExecutionName } from "../execution/state.js";
import type { ExecutionIds } from "./execution-ids.js";
import type { Item, Outcome, Placed } from "./item.js";
import { executionsWithOpenRows, incompleteExecutions } from "../settle/open-rows.js";
import { lookAfterMark } from "../settle/settled.js";
import { noteSignsOfLife } from "../settle/signs-of-life.js";
import { recordNodes } from "./record-nodes.js";
import { recordNotices } from "./record-notices.js";
import { recordTasks } from "./record-tasks.js";
import { recordWorkflows } from "./record-workflows.js";

export interface BatchDeps {
  readonly db: Queryable;
  readonly ids: ExecutionIds;
  /** Gives the namespace of a project and domain. */
  readonly namespaceTemplate: string;
  /**
   * Completes what executions consist of, before their ends are recorded, by what their resources hold; gives those that it cannot
   * complete now.
   */
  readonly completeEnds?: (executionIds: readonly bigint[]) => Promise<ReadonlySet<bigint>>;
  /** Told of every item whose row cannot be written, with the database's reason. */
  readonly onUnrecordable: (item: Item, error: unknown) => void;
}

export interface BatchResult {
  /** For each item, in order. */
  readonly outcomes: readonly Outcome[];
  /** Executions that a terminal event was told of, with the phase that stands. */
  readonly ended: readonly {
    readonly execution: ExecutionName;
    readonly rowId: bigint;
    readonly phase: WorkflowExecution_Phase;
  }[];
  /** Numbers of the executions that items were about. */
  readonly changed: readonly bigint[];
}

/** Whether this end of an execution may wait for the ends of its nodes and attempts. */
export type MayHold = (end: Item) => boolean;

type OfKind<Kind extends Item["kind"]> = Placed<Extract<Item, { kind: Kind }>>;

/**
 * Records a batch: one read and one write for each kind of row, however many items there
 * are. Safe under repetition, reordering and other replicas that record the same rows.
 *
 * @throws when the database is not there; then nothing is known and the batch is to be repeated.
 */
export async function recordBatch(deps: BatchDeps, items: readonly Item[], mayHold: MayHold = () => false): Promise<BatchResult> {
  const outcomes: Outcome[] = items.map(() => "recorded");
  const ids = await deps.ids.resolve(
    deps.db,
    items.map(({ execution }) => execution),
  );
  const foreign = await deps.ids.elsewhere(deps.db, items);
  const workflows: OfKind<"workflow">[] = [];
  const nodes: OfKind<"node">[] = [];
  const tasks: OfKind<"task">[] = [];
  const notices: OfKind<"notice">[] = [];
  for (const [index, item] of items.entries()) {
    const executionId = ids[index];
    if (executionId === undefined) outcomes[index] = "unknown";
    else if (foreign.has(index) || !isOwn(deps.namespaceTemplate, item)) outcomes[index] = "foreign";
    else if (item.kind === "workflow") workflows.push({ index, executionId, item });
    else if (item.kind === "node") nodes.push({ index, executionId, item });
    else if (item.kind === "notice") notices.push({ index, executionId, item });
    else tasks.push({ index, executionId, item });
  }
  const ended: BatchResult["ended"][number][] = [];
  const apart = new Apart(deps, outcomes);
  await apart.record(nodes, (part) => recordNodes(deps.db, part));
  await apart.record(tasks, async (part) => {
    for (const { index } of await recordTasks(deps.db, part)) outcomes[index] = "waits";
  });
  await apart.record(notices, (part) => recordNotices(deps.db, part));
  await noteSignsOfLife(deps.db, [
    ...new Set([...workflows, ...nodes, ...tasks].filter(({ item }) => isSignOfLife(item)).map(({ executionId }) => executionId)),
  ]);
  // Last: who sees an execution ended finds what it consists of ended too.
  const endings = workflows.filter(({ item }) => isTerminalWorkflowEvent(item.fact.phase));
  const { open, held } = await holdEnds(deps, endings, mayHold);
  for (const { index } of held) outcomes[index] = "waits";
  const settled = new Set(endings.map(({ executionId }) => executionId).filter((id) => !open.has(id)));
  await apart.record(
    workflows.filter((placed) => !held.has(placed)),
    async (part) => {
      const states = await recordWorkflows(deps.db, part, settled);
      for (const { item, executionId } of part) {
        const phase = states.get(executionId)?.phase;
        if (phase !== undefined && isTerminalWorkflowEvent(item.fact.phase))
          ended.push({ execution: item.execution, rowId: executionId, phase });
      }
    },
  );
  // Also where the end was recorded before: who did so may have died without the look.
  await lookAfterMark(
    deps.db,
    endings.filter((placed) => !held.has(placed)).map(({ executionId }) => executionId),
  );
  return { outcomes, ended, changed: [...new Set(ids.filter((id) => id !== undefined))] };
}

/** Whether the execution's own resource tells it: one in another namespace must not speak for it. */
function isOwn(namespaceTemplate: string, { execution: { project, domain, name }, workflowKey }: Item): boolean {
  return workflowKey === undefined || workflowKey === `${namespaceOf(namespaceTemplate, project, domain)}/${name}`;
}

/**
 * Chooses the ends that wait. While ends of nodes and attempts may be on their way, those of their executions are held; then they are
 * taken from the resources, which go once the end is recorded.
 */
async function holdEnds(
  { db, completeEnds }: BatchDeps,
  endings: readonly OfKind<"workflow">[],
  mayHold: MayHold,
): Promise<{ readonly open: ReadonlySet<bigint>; readonly held: ReadonlySet<OfKind<"workflow">> }> {
  const told = endings.map(({ executionId, item }) => ({ executionId, endedNodes: item.endedNodes ?? 0 }));
  const open = await incompleteExecutions(db, told);
  const held = new Set(endings.filter(({ item, executionId }) => open.has(executionId) && mayHold(item)));
  const due = endings.filter((ending) => open.has(ending.executionId) && !held.has(ending));
  if (due.length === 0 || completeEnds === undefined) return { open, held };
  const waiting = await completeEnds([...new Set(due.map(({ executionId }) => executionId))]);
  for (const ending of due) if (waiting.has(ending.executionId)) held.add(ending);
  return {
    open: await executionsWithOpenRows(
      db,
      told.map(({ executionId }) => executionId),
    ),
    held,
  };
}

function isSignOfLife(item: Item): boolean {
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

/** Finds the row that the database refuses, so that the rest of its batch is recorded. */
class Apart {
  constructor(
    private readonly deps: BatchDeps,
    private readonly outcomes: Outcome[],
  ) {}

  async record<T extends Placed>(items: readonly T[], write: (items: readonly T[]) => Promise<void>): Promise<void> {
    if (items.length === 0) return;
    try {
      await write(items);
    } catch (error) {
      if (isUnavailable(error) || isTransactionConflict(error) || !isRefusal(error)) throw error;
      const [only] = items;
      if (items.length === 1 && only !== undefined) {
        this.outcomes[only.index] = "unrecordable";
        this.deps.onUnrecordable(only.item, error);
        return;
      }
      const middle = Math.ceil(items.length / 2);
      await this.record(items.slice(0, middle), write);
      await this.record(items.slice(middle), write);
    }
  }
}

/** Whether the database itself refused a value (SQLSTATE classes 22, 23, 54): trying again cannot help. */
function isRefusal(error: unknown): boolean {
  return /^(22|23|54)/.test((error as { code?: string } | undefined)?.code ?? "");
}
