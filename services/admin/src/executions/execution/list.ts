import type { ResourceListRequest } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { ExecutionListSchema, ExecutionState } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { EncodedMessage } from "@flyte-ts/rpc";
import {
  checkText,
  type ListPlan,
  type ListRequest,
  missingArgument,
  nextToken,
  planWithPrefetch,
  resolveFilters,
  selectPage,
  selectPagePrepared,
} from "../../platform/index.js";
import { deriveCreatedAtBounds } from "../store/execution/created-at-bounds.js";
import { executionEntity } from "../store/execution/list-entity.js";
import { encodeExecutions } from "./row.js";
import { executionColumns, type ExecutionRow } from "../store/execution/find.js";

/** Lists executions, without archived ones unless a filter names the state. */
export async function listExecutions(
  db: Queryable,
  { id, limit, token, filters, sortBy }: ResourceListRequest,
): Promise<EncodedMessage<typeof ExecutionListSchema>> {
  if (id === undefined) throw missingArgument("id");
  checkText(id.project, "project");
  checkText(id.domain, "domain");
  const plan = await planExecutions(db, {
    rpc: "ListExecutions",
    limit,
    token,
    filters,
    sortBy,
    equal: { execution_project: id.project, execution_domain: id.domain, execution_name: id.name },
  });
  // Common request, for which the index executions_created_at has the rows in order.
  const page = filters === "" && id.name === "" && sortBy?.key === "created_at" ? selectPagePrepared : selectPage;
  const { rows } = await db.query<ExecutionRow>(page(plan, executionColumns));
  return new EncodedMessage(ExecutionListSchema, encodeExecutions(rows, nextToken(plan, rows.length)));
}

/** Excludes archived executions unless a filter names the state. */
export async function planExecutions(db: Queryable, request: ListRequest): Promise<ListPlan> {
  const terms = resolveFilters(executionEntity, request);
  const where = [...(await deriveCreatedAtBounds(db, request, terms))];
  if (terms.some((term) => term.prefix === "execution" && term.name === "state")) {
    return planWithPrefetch(db, executionEntity, { ...request, where });
  }
  // The value is in the SQL text, since a prepared statement is planned for it.
  const active = { sql: `executions.state = ${ExecutionState.EXECUTION_ACTIVE}` };
  return planWithPrefetch(db, executionEntity, {
    ...request,
    constants: { state: ExecutionState.EXECUTION_ACTIVE },
    where: [active, ...where],
  });
}
