import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { FlyteClient } from "@flyte-ts/client";
import type { NodeExecution } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import type { TaskExecution } from "@flyte-ts/idl/flyteidl/admin/task_execution_pb";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { NodeExecution_Phase, TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type ExecutionName, retryWhileUnavailable } from "../../stack/executions.js";
import { plainLiteral } from "../../examples/plain-literal.js";
import type { AttemptRecord, ExecutionRecord, NodeRecord } from "./evidence.js";

/** Reads everything about an execution from the API, retrying while admin is unavailable. */
export async function readExecution(client: FlyteClient, id: ExecutionName): Promise<ExecutionRecord> {
  const { closure } = await retryWhileUnavailable(() => client.admin.getExecution({ id }));
  const [{ fullOutputs }, nodes] = await Promise.all([
    retryWhileUnavailable(() => client.admin.getExecutionData({ id })),
    nodesOf(client, id),
  ]);
  const result = closure?.outputResult;
  return {
    name: id.name,
    phase: WorkflowExecution_Phase[closure?.phase ?? 0] ?? "",
    createdAt: at(closure?.createdAt),
    startedAt: at(closure?.startedAt),
    updatedAt: at(closure?.updatedAt),
    error: result?.case === "error" ? result.value.message : "",
    output: outputOf(fullOutputs),
    nodes,
  };
}

/** Nodes at every depth, without the start and end nodes. */
async function nodesOf(client: FlyteClient, id: ExecutionName, uniqueParentId = ""): Promise<NodeRecord[]> {
  const request = { workflowExecutionId: id, limit: 100, uniqueParentId };
  const { nodeExecutions } = await retryWhileUnavailable(() => client.admin.listNodeExecutions(request));
  const own = nodeExecutions.filter(({ id: node }) => !/(^|-)(start|end)-node$/.test(node?.nodeId ?? ""));
  const records = await Promise.all(own.map((node) => nodeRecord(client, node)));
  const parents = own.filter(({ metadata }) => metadata?.isParentNode === true);
  const inner = await Promise.all(parents.map((node) => nodesOf(client, id, node.id?.nodeId)));
  return [...records, ...inner.flat()];
}

async function nodeRecord(client: FlyteClient, { id, closure }: NodeExecution): Promise<NodeRecord> {
  const [{ fullOutputs }, { taskExecutions }] = await Promise.all([
    retryWhileUnavailable(() => client.admin.getNodeExecutionData({ id })),
    retryWhileUnavailable(() => client.admin.listTaskExecutions({ nodeExecutionId: id, limit: 100 })),
  ]);
  const target = closure?.targetMetadata;
  return {
    node: id?.nodeId ?? "",
    phase: NodeExecution_Phase[closure?.phase ?? 0] ?? "",
    startedAt: at(closure?.startedAt),
    updatedAt: at(closure?.updatedAt),
    hasError: closure?.outputResult.case === "error",
    output: outputOf(fullOutputs),
    cache: target?.case === "taskNodeMetadata" ? (CatalogCacheStatus[target.value.cacheStatus] ?? "") : "",
    child: target?.case === "workflowNodeMetadata" ? nameOf(target.value.executionId) : undefined,
    attempts: await Promise.all(taskExecutions.map((task) => attemptRecord(client, task))),
  };
}

async function attemptRecord(client: FlyteClient, { id, closure }: TaskExecution): Promise<AttemptRecord> {
  const { fullOutputs } = await retryWhileUnavailable(() => client.admin.getTaskExecutionData({ id }));
  return {
    key: closure?.metadata?.generatedName ?? "",
    attempt: id?.retryAttempt ?? 0,
    phase: TaskExecution_Phase[closure?.phase ?? 0] ?? "",
    startedAt: at(closure?.startedAt),
    updatedAt: at(closure?.updatedAt),
    hasError: closure?.outputResult.case === "error",
    output: outputOf(fullOutputs),
  };
}

const nameOf = (id: WorkflowExecutionIdentifier | undefined): string | undefined => id?.name;

const at = (time: Timestamp | undefined): number | undefined => (time === undefined ? undefined : timestampMs(time));

function outputOf(outputs: LiteralMap | undefined): string | undefined {
  const literal = outputs?.literals.o;
  return literal === undefined ? undefined : String(plainLiteral(literal));
}
