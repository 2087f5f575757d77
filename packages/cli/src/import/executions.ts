import { forEachConcurrent } from "@flyte-ts/async";
import { Code } from "@flyte-ts/client";
import { Sort_Direction } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { type Execution, ExecutionState } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { NodeExecution } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import { WorkflowExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { NodeExecutionIdentifier, WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { paginate, undefinedIfNotFound, isCode, retryWhileUnavailable, permanentErrorMessage } from "./admin-calls.js";
import type { ImportContext, ProjectDomain } from "./run-import.js";

const TERMINAL_PHASES: readonly Phase[] = [Phase.SUCCEEDED, Phase.FAILED, Phase.ABORTED, Phase.TIMED_OUT];
/** Archived executions are listed only with this filter. */
const ANY_STATE_FILTER = `value_in(state,${ExecutionState.EXECUTION_ACTIVE};${ExecutionState.EXECUTION_ARCHIVED})`;
/** Executions that are read before the next page is requested. */
const BATCH_SIZE = 100;

/**
 * Imports ended executions, oldest first: their nodes, attempts, and the values that the source
 * still has.
 */
export async function importExecutions(context: ImportContext, { project, domain }: ProjectDomain): Promise<void> {
  const { from, config, report, progress } = context;
  progress(`executions of ${project}/${domain}`);
  let batch: Execution[] = [];
  const flushBatch = async () => {
    await forEachConcurrent(batch, config.concurrency, (execution) => importOne(context, execution));
    batch = [];
  };
  const sortBy = { key: "created_at", direction: Sort_Direction.ASCENDING };
  const listed = paginate(
    (page) => from.admin.listExecutions({ id: { project, domain }, ...page, sortBy, filters: ANY_STATE_FILTER }),
    (answer) => answer.executions,
  );
  for await (const execution of listed) {
    if (TERMINAL_PHASES.includes(execution.closure?.phase ?? Phase.UNDEFINED)) batch.push(execution);
    else report.skip({ kind: "execution", what: executionText(execution.id), why: "it has not ended: it continues on the source" });
    if (batch.length === BATCH_SIZE) await flushBatch();
  }
  await flushBatch();
}

const executionText = (id: WorkflowExecutionIdentifier | undefined) => `${id?.project}/${id?.domain}/${id?.name}`;

async function importOne(context: ImportContext, { id, ...rest }: Execution): Promise<void> {
  const { from, to, history, report } = context;
  if (id === undefined) return;
  if ((await undefinedIfNotFound(() => to.admin.getExecution({ id }))) !== undefined) {
    report.record("execution", "there");
    return;
  }
  try {
    const data = await undefinedIfNotFound(() => from.admin.getExecutionData({ id }));
    const nodes: ReturnType<typeof readNode> extends Promise<infer Node> ? Node[] : never = [];
    for await (const { node, parent } of iterateNodes(context, id)) nodes.push(await readNode(context, node, parent));
    await retryWhileUnavailable(() => history.importExecution({ execution: { ...rest, id }, ...inlineValues(data), nodes }));
    report.record("execution", "imported");
  } catch (error) {
    if (isCode(error, Code.ALREADY_EXISTS)) report.record("execution", "there");
    else if (isCode(error, Code.UNIMPLEMENTED)) throw error;
    else report.skip({ kind: "execution", what: executionText(id), why: permanentErrorMessage(error) });
  }
}

/** Values too large for the answer are not copied: their URIs are imported. */
function inlineValues(data: { readonly fullInputs?: LiteralMap; readonly fullOutputs?: LiteralMap } | undefined) {
  const { fullInputs, fullOutputs } = data ?? {};
  const given = (map: LiteralMap | undefined): map is LiteralMap => map !== undefined && Object.keys(map.literals).length > 0;
  return { ...(given(fullInputs) && { inputs: fullInputs }), ...(given(fullOutputs) && { outputs: fullOutputs }) };
}

/** Iterates over all nodes, each after its parent. */
async function* iterateNodes(
  context: ImportContext,
  workflowExecutionId: WorkflowExecutionIdentifier,
  parent = "",
): AsyncGenerator<{ readonly node: NodeExecution; readonly parent: string }> {
  const listed = paginate(
    (page) => context.from.admin.listNodeExecutions({ workflowExecutionId, ...page, uniqueParentId: parent }),
    (answer) => answer.nodeExecutions,
  );
  for await (const node of listed) {
    yield { node, parent };
    if (node.metadata?.isParentNode === true && node.id !== undefined) yield* iterateNodes(context, workflowExecutionId, node.id.nodeId);
  }
}

async function readNode({ from }: ImportContext, node: NodeExecution, parentNodeId: string) {
  const id = node.id as NodeExecutionIdentifier;
  const data = await undefinedIfNotFound(() => from.admin.getNodeExecutionData({ id }));
  const attempts = [];
  const listed = paginate(
    (page) => from.admin.listTaskExecutions({ nodeExecutionId: id, ...page }),
    (answer) => answer.taskExecutions,
  );
  for await (const attempt of listed) {
    const attemptId = attempt.id;
    if (attemptId === undefined) continue;
    attempts.push({ attempt, ...inlineValues(await undefinedIfNotFound(() => from.admin.getTaskExecutionData({ id: attemptId }))) });
  }
  return { node, parentNodeId, attempts, ...inlineValues(data) };
}
