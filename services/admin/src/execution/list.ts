import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ResourceListRequest } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import type { ExecutionListSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { checkText } from "../identifier/check.js";
import { missingArgument } from "../invalid.js";
import { planList, selectPage } from "../list/plan.js";
import { nextToken } from "../list/token.js";
import { executionEntity } from "./list-entity.js";
import { executionColumns, executionOf, type ExecutionRow, LIST_ERROR_BYTES } from "./row.js";

const ACTIVE = 0;

/** Archived executions are left out unless the filters speak of the state. */
export async function listExecutions(
  db: Queryable,
  { id, limit, token, filters, sortBy }: ResourceListRequest,
): Promise<MessageInitShape<typeof ExecutionListSchema>> {
  if (id === undefined) throw missingArgument("id");
  checkText(id.project, "project");
  checkText(id.domain, "domain");
  const equal = { execution_project: id.project, execution_domain: id.domain, execution_name: id.name };
  const request = { rpc: "ListExecutions", limit, token, filters, sortBy, equal };
  const given = planList(executionEntity, request);
  const plan = given.filtered.has("execution.state")
    ? given
    : planList(executionEntity, { ...request, where: [{ sql: "executions.state = $$", value: ACTIVE }] });
  const { rows } = await db.query<ExecutionRow>(selectPage(executionEntity, plan, executionColumns));
  const executions = rows.map((row) => executionOf(row, { errorBytes: LIST_ERROR_BYTES }));
  // Older clients put inputs into the spec; lists have never shown them.
  for (const { spec } of executions) if (spec !== undefined) delete spec.inputs;
  return { executions, token: nextToken(plan, rows.length) };
}
