import type { Queryable } from "@flyte-ts/postgres";
import { executionNotFound } from "../../execution/identifier.js";
import { executionColumns, type ExecutionRow } from "../../execution/row.js";
import type { ExecutionName } from "./state.js";

/** @throws RpcError NOT_FOUND. */
export async function findExecution(db: Queryable, { project, domain, name }: ExecutionName): Promise<ExecutionRow> {
  const { rows } = await db.query<ExecutionRow>({
    name: "find-execution",
    text: `SELECT ${executionColumns} FROM executions WHERE execution_project = $1 AND execution_domain = $2 AND execution_name = $3`,
    values: [project, domain, name],
  });
  if (rows[0] === undefined) throw executionNotFound({ project, domain, name });
  return rows[0];
}

/** Returns the row id of an execution; undefined when it does not exist. */
export async function findExecutionId(db: Queryable, { project, domain, name }: ExecutionName): Promise<bigint | undefined> {
  const { rows } = await db.query<{ id: bigint }>({
    name: "find-execution-id",
    text: "SELECT id FROM executions WHERE execution_project = $1 AND execution_domain = $2 AND execution_name = $3",
    values: [project, domain, name],
  });
  return rows[0]?.id;
}
