import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type {
  NodeExecutionForTaskListRequest,
  NodeExecutionListRequest,
  NodeExecutionListSchema,
} from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import { NodeExecutionIdentifierSchema, type WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { taskKey } from "@flyte-ts/execution-state";
import { findExecutionId } from "../store/execution/find.js";
import { checkExecutionId, checkTaskId, taskNotFound } from "../model/identifier.js";
import { LIST_ERROR_BYTES } from "../execution/row.js";
import { checkText, type Condition, type ListRequest, nextToken, planList, selectPage } from "../../platform/index.js";
import { loadTasks } from "../store/attempt/state.js";
import { nodeExecutionEntity } from "../store/node/list-entity.js";
import { listedNodeColumns, type NodeRow, requireNode } from "../store/node/find.js";
import { nodeExecutionOf } from "./row.js";

type List = MessageInitShape<typeof NodeExecutionListSchema>;

/** Lists the top-level nodes of an execution; with unique_parent_id, the children of that node. */
export async function listNodeExecutions(db: Queryable, request: NodeExecutionListRequest): Promise<List> {
  const { workflowExecutionId: executionId, uniqueParentId, limit, token, filters, sortBy } = request;
  checkExecutionId(executionId, "execution_id");
  const list = { rpc: "ListNodeExecutions", limit, token, filters, sortBy };
  planList(nodeExecutionEntity, list);
  const rowId = await findExecutionId(db, executionId);
  if (uniqueParentId !== "") checkText(uniqueParentId, "unique_parent_id");
  if (uniqueParentId !== "") await requireNode(db, rowId, create(NodeExecutionIdentifierSchema, { nodeId: uniqueParentId, executionId }));
  if (rowId === undefined) return {};
  const within: Condition =
    uniqueParentId === ""
      ? { sql: "node_executions.parent_node_id IS NULL AND node_executions.parent_task_key IS NULL" }
      : { sql: "node_executions.parent_node_id = $$", value: uniqueParentId };
  return page(db, executionId, { ...list, where: [{ sql: "node_executions.execution_id = $$", value: rowId }, within] });
}

/** Lists the child nodes of a task attempt. */
export async function listNodeExecutionsForTask(db: Queryable, request: NodeExecutionForTaskListRequest): Promise<List> {
  const { taskExecutionId: id, limit, token, filters, sortBy } = request;
  checkTaskId(id);
  const list = { rpc: "ListNodeExecutions", limit, token, filters, sortBy };
  planList(nodeExecutionEntity, list);
  const { executionId, nodeId } = id.nodeExecutionId;
  const rowId = await findExecutionId(db, executionId);
  const [task] =
    rowId === undefined ? [] : await loadTasks(db, [{ executionId: rowId, nodeId, task: id.taskId, retryAttempt: id.retryAttempt }]);
  if (task === undefined || task === "no-node") throw taskNotFound(id);
  const where = [
    { sql: "node_executions.execution_id = $$", value: rowId },
    { sql: "node_executions.parent_task_key = $$", value: taskKey(id) },
  ];
  return page(db, executionId, { ...list, where });
}

async function page(db: Queryable, executionId: WorkflowExecutionIdentifier, request: ListRequest): Promise<List> {
  const { project, domain, name } = executionId;
  const known = { execution_project: project, execution_domain: domain, execution_name: name };
  const plan = planList(nodeExecutionEntity, { ...request, constants: known });
  const { rows } = await db.query<NodeRow>(selectPage(plan, listedNodeColumns));
  return {
    nodeExecutions: rows.map((row) => nodeExecutionOf(row, { executionId, errorBytes: LIST_ERROR_BYTES })),
    token: nextToken(plan, rows.length),
  };
}
