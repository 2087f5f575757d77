import { create, toBinary } from "@bufbuild/protobuf";
import { isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import { isTime } from "@flyte-ts/domain/timestamp";
import { type Execution, ExecutionClosureSchema, ExecutionSpecSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { WorkflowExecutionConfigSchema } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ImportedNode, ImportExecutionRequest } from "@flyte-ts/idl/flytets/admin/v1/history_pb";
import type { Queryable } from "@flyte-ts/postgres";
import {
  initialWorkflowState,
  errorColumns,
  foldNode,
  foldTask,
  foldWorkflow,
  nanosOf,
  nextSeq,
  nextWorkflowSeq,
  type NodeState,
  readNodeEvent,
  readTaskEvent,
  type TaskState,
  type WorkflowResult,
  type WorkflowState,
} from "@flyte-ts/execution-state";
import type { EventsDeps } from "../deps.js";
import { offloadNames } from "../offload-names.js";
import { asInvalidArgument } from "../rpc/validate-event.js";
import {
  encodeLaunchSettings,
  ensureSingleTask,
  insertExecution,
  executionIds,
  executionStates,
  executionUpdates,
  nodeStates,
  attemptStates,
} from "../../executions/index.js";
import { invalidArgument, missingArgument, missingEntity } from "../../platform/index.js";
import { findLaunchPlan, resourcesOf } from "../../registry/index.js";
import { endOf, nodeEvents, taskEvents } from "./imported-events.js";

export type ImportDeps = Pick<EventsDeps, "db" | "config" | "clock">;

/**
 * Imports an execution that ran and ended elsewhere, in one transaction. Writes row, nodes and
 * attempts as after their last events, without outbox entry, notifications or triggers.
 *
 * @throws RpcError INVALID_ARGUMENT, NOT_FOUND for its entities, ALREADY_EXISTS.
 */
export async function importExecution(deps: ImportDeps, request: ImportExecutionRequest): Promise<void> {
  const { execution, nodes } = request;
  if (execution === undefined) throw missingArgument("execution");
  const { id, spec, closure } = execution;
  if (id === undefined) throw missingArgument("execution.id");
  executionIds.checkExecutionId(id, "execution.id");
  if (spec?.launchPlan === undefined) throw missingArgument("execution.spec.launch_plan");
  if (closure === undefined) throw missingArgument("execution.closure");
  if (!isTerminalWorkflowEvent(closure.phase)) throw invalidArgument("invalid value for execution.closure.phase: it must have ended");
  if (closure.createdAt === undefined || !isTime(closure.createdAt)) throw missingArgument("execution.closure.created_at");
  for (const { node, attempts } of nodes) checkNode(id, node, attempts);
  const what = await launched(deps, execution);
  const state = stateOf(closure, request.outputs);
  await deps.db.transaction(async (tx) => {
    const rowId = await insertExecution(tx, {
      project: id.project,
      domain: id.domain,
      name: id.name,
      ...what,
      mode: spec.metadata?.mode ?? 0,
      principal: spec.metadata?.principal ?? "",
      cluster: "",
      reassignable: false,
      sourceExecutionId: undefined,
      parent: undefined,
      spec: toBinary(ExecutionSpecSchema, spec),
      inputs: encoded(request.inputs),
      userInputs: encoded(request.inputs),
      inputsUri: "",
      userInputsUri: "",
      closure: toBinary(
        ExecutionClosureSchema,
        create(ExecutionClosureSchema, {
          notifications: closure.notifications,
          ...(closure.workflowId && { workflowId: closure.workflowId }),
        }),
      ),
      launchSettings: encodeLaunchSettings({
        workflow: what.workflow,
        config: create(WorkflowExecutionConfigSchema),
        resources: resourcesOf(undefined, deps.config),
        pluginOverrides: [],
        queue: "",
      }),
      acceptedAt: nanosOf(closure.createdAt!),
      failure: undefined,
      imported: true,
      labels: spec.labels?.values ?? {},
      tags: spec.tags,
    });
    await executionStates.saveExecutionStates(tx, [{ rowId, state, revision: 2, becomesTerminal: false }]);
    await executionUpdates.markImported(tx, { rowId, execution });
    await writeNodes(tx, { rowId, nodes, names: offloadNames(deps.config) });
  });
}

function encoded(values: LiteralMap | undefined): Uint8Array {
  return values === undefined ? new Uint8Array() : toBinary(LiteralMapSchema, values);
}

function checkNode(execution: NonNullable<Execution["id"]>, node: ImportedNode["node"], attempts: ImportedNode["attempts"]): void {
  executionIds.checkNodeId(node?.id, "nodes.node.id");
  const own = (id: typeof execution | undefined) =>
    id?.project === execution.project && id.domain === execution.domain && id.name === execution.name;
  if (!own(node?.id?.executionId)) throw invalidArgument("invalid value for nodes.node.id: it must be of the execution");
  for (const { attempt } of attempts) {
    executionIds.checkTaskId(attempt?.id);
    const of = attempt?.id?.nodeExecutionId;
    if (!own(of?.executionId) || of?.nodeId !== node?.id?.nodeId)
      throw invalidArgument("invalid value for nodes.attempts.attempt.id: it must be of the node");
  }
}

async function launched(deps: ImportDeps, { spec, closure }: Execution) {
  const entity = spec?.launchPlan;
  if (spec === undefined || entity === undefined) throw missingArgument("execution.spec.launch_plan");
  if (entity.resourceType === ResourceType.TASK) {
    const { workflow, workflowRowId, taskRowId } = await ensureSingleTask(deps, entity, spec);
    const row = { launchPlanId: undefined, launchPlanName: "", taskId: taskRowId, launchEntity: "task" as const };
    return { ...row, workflowId: workflowRowId, workflowName: workflow.name, workflow };
  }
  const found = await findLaunchPlan(deps.db, { ...entity, resourceType: ResourceType.LAUNCH_PLAN });
  const workflow = closure?.workflowId ?? found?.launchPlan.spec?.workflowId;
  if (found === undefined || workflow === undefined) throw missingEntity("LAUNCH_PLAN", entity);
  const row = { launchPlanId: found.rowId, launchPlanName: entity.name, taskId: undefined, launchEntity: "launch_plan" as const };
  return { ...row, workflowId: found.workflowRowId, workflowName: workflow.name, workflow };
}

function stateOf(closure: NonNullable<Execution["closure"]>, outputs: LiteralMap | undefined): WorkflowState {
  const createdAt = closure.createdAt === undefined ? 0n : nanosOf(closure.createdAt);
  let state = initialWorkflowState(createdAt);
  if (closure.startedAt !== undefined)
    state = foldWorkflow(state, { phase: WorkflowExecution_Phase.RUNNING, occurredAt: nanosOf(closure.startedAt) }, nextWorkflowSeq(state));
  state = foldWorkflow(state, { phase: closure.phase, occurredAt: endOf(closure) }, nextWorkflowSeq(state));
  const updatedAt = closure.updatedAt === undefined ? state.updatedAt : nanosOf(closure.updatedAt);
  return { ...state, updatedAt, result: resultOf(closure, outputs) };
}

function resultOf({ outputResult, phase }: NonNullable<Execution["closure"]>, outputs: LiteralMap | undefined): WorkflowResult | undefined {
  switch (outputResult.case) {
    case "error":
      return { kind: "error", error: errorColumns(outputResult.value) };
    case "abortMetadata":
      return { kind: "abort", cause: outputResult.value.cause, principal: outputResult.value.principal };
    case "abortCause":
      return { kind: "abort", cause: outputResult.value, principal: "" };
    default: {
      const uri = outputResult.case === "outputs" && outputResult.value.data.case === "uri" ? outputResult.value.data.value : "";
      if (phase !== WorkflowExecution_Phase.SUCCEEDED || (uri === "" && outputs === undefined)) return undefined;
      return { kind: "outputs", uri, values: outputs && encoded(outputs) };
    }
  }
}

interface Nodes {
  readonly rowId: bigint;
  readonly nodes: readonly ImportedNode[];
  readonly names: ReturnType<typeof offloadNames>;
}

async function writeNodes(tx: Queryable, { rowId, nodes, names }: Nodes): Promise<void> {
  const nodeWrites = nodes.flatMap((imported) => {
    let state: NodeState | undefined;
    for (const event of nodeEvents(imported)) {
      const beside = { inputs: imported.inputs, outputs: imported.outputs };
      state = foldNode(
        state,
        asInvalidArgument(() => readNodeEvent(event, beside, names)),
        nextSeq(state),
      );
    }
    return state === undefined ? [] : [{ executionId: rowId, nodeId: imported.node?.id?.nodeId ?? "", state, revision: 1 }];
  });
  if (nodeWrites.length > 0) await nodeStates.saveNodes(tx, nodeWrites);
  const attempts = nodes.flatMap(({ attempts: all }) => all);
  const tasks = attempts.flatMap((imported) => {
    const { taskId: task, nodeExecutionId, retryAttempt = 0 } = imported.attempt?.id ?? {};
    let state: TaskState | undefined;
    const events: { readonly order: bigint; readonly event: Uint8Array }[] = [];
    for (const event of taskEvents(imported)) {
      const fact = asInvalidArgument(() => readTaskEvent(event, { inputs: imported.inputs, outputs: imported.outputs }, names));
      const order = nextSeq(state);
      state = foldTask(state, fact, order);
      events.push({ order, event: fact.event });
    }
    if (state === undefined || task === undefined) return [];
    return [{ key: { executionId: rowId, nodeId: nodeExecutionId?.nodeId ?? "", task, retryAttempt }, state, events }];
  });
  if (tasks.length === 0) return;
  const rows = await attemptStates.saveTasks(
    tx,
    tasks.map(({ key, state }) => ({ ...key, state, revision: 1 })),
  );
  await attemptStates.appendTaskEvents(
    tx,
    tasks.flatMap(({ key, events }) => events.map((event) => ({ rowId: rows.get(attemptStates.taskKeyText(key)) ?? 0n, ...event }))),
  );
}
