import type { MessageInitShape } from "@bufbuild/protobuf";
import type { TaskExecutionListRequest, TaskExecutionListSchema } from "@flyte-ts/idl/flyteidl/admin/task_execution_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { findExecutionId } from "../store/execution/find.js";
import { checkNodeId } from "../model/identifier.js";
import { nextToken, planList, selectPage } from "../../platform/index.js";
import { taskExecutionEntity } from "../store/attempt/list-entity.js";
import { taskColumns, type TaskRow } from "../store/attempt/find.js";
import { taskExecutionsOf } from "./row.js";

/** Lists the attempts of a node's task, with complete error messages. */
export async function listTaskExecutions(
  db: Queryable,
  request: TaskExecutionListRequest,
): Promise<MessageInitShape<typeof TaskExecutionListSchema>> {
  const { nodeExecutionId: id, limit, token, filters, sortBy } = request;
  checkNodeId(id);
  const list = { rpc: "ListTaskExecutions", limit, token, filters, sortBy };
  planList(taskExecutionEntity, list);
  const rowId = await findExecutionId(db, id.executionId);
  if (rowId === undefined) return {};
  const where = [
    { sql: "task_executions.execution_id = $$", value: rowId },
    { sql: "task_executions.node_id = $$", value: id.nodeId },
  ];
  const { project, domain, name } = id.executionId;
  const ofExecution = { execution_project: project, execution_domain: domain, execution_name: name, project, domain, name };
  const plan = planList(taskExecutionEntity, { ...list, where, constants: { ...ofExecution, node_id: id.nodeId } });
  const { rows } = await db.query<TaskRow>(selectPage(plan, taskColumns));
  return { taskExecutions: await taskExecutionsOf(db, id.executionId, rows), token: nextToken(plan, rows.length) };
}
