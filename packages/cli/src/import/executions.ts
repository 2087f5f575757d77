import { forEachConcurrent } from "@flyte-ts/async";
import { Code } from "@flyte-ts/client";
import { Sort_Direction } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { type Execution, ExecutionState } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { NodeExecution } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import { WorkflowExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { NodeExecutionIdentifier, WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { allOf, found, isCode, patiently, refusalOf } from "./calls.js";
import type { Import, Place } from "./run.js";

const ENDED: readonly Phase[] = [Phase.SUCCEEDED, Phase.FAILED, Phase.ABORTED, Phase.TIMED_OUT];
/** Archived executions are listed only with this filter. */
const EVERY_STATE = `value_in(state,${ExecutionState.EXECUTION_ACTIVE};${ExecutionState.EXECUTION_ARCHIVED})`;
/** Executions that are read before the next page is requested. */
const BATCH = 100;

/** Imports ended executions, oldest first: their nodes, attempts, and the values that the source still has. */
export async function importExecutions(work: Import, { project, domain }: Place): Promise<void> {
  const { from, config, report, progress } = work;
  progress(`executions of ${project}/${domain}`);
  let batch: Execution[] = [];
  const carryOut = async () => {
    await forEachConcurrent(batch, config.concurrency, (execution) => importOne(work, execution));
    batch = [];
  };
  const sortBy = { key: "created_at", direction: Sort_Direction.ASCENDING };
  const listed = allOf(
    (page) => from.admin.listExecutions({ id: { project, domain }, ...page, sortBy, filters: EVERY_STATE }),
    (answer) => answer.executions,
  );
  for await (const execution of listed) {
    if (ENDED.includes(execution.closure?.phase ?? Phase.UNDEFINED)) batch.push(execution);
    else report.skip({ kind: "execution", what: textOf(execution.id), why: "it has not ended: it does so where it began" });
    if (batch.length === BATCH) await carryOut();
  }
  await carryOut();
}

const textOf = (id: WorkflowExecutionIdentifier | undefined) => `${id?.project}/${id?.domain}/${id?.name}`;

async function importOne(work: Import, { id, ...rest }: Execution): Promise<void> {
  const { from, to, history, report } = work;
  if (id === undefined) return;
  if ((await found(() => to.admin.getExecution({ id }))) !== undefined) {
    report.note("execution", "there");
    return;
  }
  try {
    const data = await found(() => from.admin.getExecutionData({ id }));
    const nodes: ReturnType<typeof readNode> extends Promise<infer Node> ? Node[] : never = [];
    for await (const { node, parent } of nodesOf(work, id)) nodes.push(await readNode(work, node, parent));
    await patiently(() => history.importExecution({ execution: { ...rest, id }, ...values(data), nodes }));
    report.note("execution", "imported");
  } catch (error) {
    if (isCode(error, Code.ALREADY_EXISTS)) report.note("execution", "there");
    else if (isCode(error, Code.UNIMPLEMENTED)) throw error;
    else report.skip({ kind: "execution", what: textOf(id), why: refusalOf(error) });
  }
}

/** Values too large for the answer are not copied: their URIs are imported. */
function values(data: { readonly fullInputs?: LiteralMap; readonly fullOutputs?: LiteralMap } | undefined) {
  const { fullInputs, fullOutputs } = data ?? {};
  const given = (map: LiteralMap | undefined): map is LiteralMap => map !== undefined && Object.keys(map.literals).length > 0;
  return { ...(given(fullInputs) && { inputs: fullInputs }), ...(given(fullOutputs) && { outputs: fullOutputs }) };
}

/** Iterates over all nodes, each after its parent. */
async function* nodesOf(
  work: Import,
  workflowExecutionId: WorkflowExecutionIdentifier,
  parent = "",
): AsyncGenerator<{ readonly node: NodeExecution; readonly parent: string }> {
  const listed = allOf(
    (page) => work.from.admin.listNodeExecutions({ workflowExecutionId, ...page, uniqueParentId: parent }),
    (answer) => answer.nodeExecutions,
  );
  for await (const node of listed) {
    yield { node, parent };
    if (node.metadata?.isParentNode === true && node.id !== undefined) yield* nodesOf(work, workflowExecutionId, node.id.nodeId);
  }
}

async function readNode({ from }: Import, node: NodeExecution, parentNodeId: string) {
  const id = node.id as NodeExecutionIdentifier;
  const data = await found(() => from.admin.getNodeExecutionData({ id }));
  const attempts = [];
  const listed = allOf(
    (page) => from.admin.listTaskExecutions({ nodeExecutionId: id, ...page }),
    (answer) => answer.taskExecutions,
  );
  for await (const attempt of listed) {
    const attemptId = attempt.id;
    if (attemptId === undefined) continue;
    attempts.push({ attempt, ...values(await found(() => from.admin.getTaskExecutionData({ id: attemptId }))) });
  }
  return { node, parentNodeId, attempts, ...values(data) };
}
