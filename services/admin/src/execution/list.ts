import type { ResourceListRequest } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { ExecutionListSchema, ExecutionState } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { Encoded } from "@flyte-ts/rpc";
import { checkText } from "../identifier/check.js";
import { missingArgument } from "../invalid.js";
import { planList, preparedPage, selectPage } from "../list/plan.js";
import { nextToken } from "../list/token.js";
import { executionEntity } from "./list-entity.js";
import { encodeExecutions, executionColumns, type ExecutionRow } from "./row.js";

/** Archived executions are left out unless the filters speak of the state. */
export async function listExecutions(
  db: Queryable,
  { id, limit, token, filters, sortBy }: ResourceListRequest,
): Promise<Encoded<typeof ExecutionListSchema>> {
  if (id === undefined) throw missingArgument("id");
  checkText(id.project, "project");
  checkText(id.domain, "domain");
  const equal = { execution_project: id.project, execution_domain: id.domain, execution_name: id.name };
  const request = { rpc: "ListExecutions", limit, token, filters, sortBy, equal };
  const given = planList(executionEntity, request);
  const plan = given.filtered.has("execution.state")
    ? given
    : planList(executionEntity, { ...request, where: [{ sql: `executions.state = ${ExecutionState.EXECUTION_ACTIVE}` }] });
  // What most clients ask for, and executions_created_at has in order.
  const page = filters === "" && id.name === "" && sortBy?.key === "created_at" ? preparedPage : selectPage;
  const { rows } = await db.query<ExecutionRow>(page(executionEntity, plan, executionColumns));
  return new Encoded(ExecutionListSchema, encodeExecutions(rows, nextToken(plan, rows.length)));
}
