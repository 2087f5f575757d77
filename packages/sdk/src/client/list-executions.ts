import { timestampDate } from "@bufbuild/protobuf/wkt";
import { pathOf } from "@flyte-ts/client/browser";
import { ExecutionListSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { FlyteApi } from "../api/flyte-api.js";
import { nameOfPhase } from "./change.js";
import type { ListedExecution, ListOptions } from "./types.js";

const PAGE = 100;

/** Lists the executions of a domain, the newest first. */
export async function* listExecutions(
  api: FlyteApi,
  { project, domain }: { readonly project: string; readonly domain: string },
  { phases = [], limit = PAGE, since }: ListOptions,
): AsyncGenerator<ListedExecution, void> {
  const filters = [
    ...(phases.length === 0 ? [] : [`value_in(phase,${phases.join(";")})`]),
    ...(since === undefined ? [] : [`gt(created_at,${since.toISOString()})`]),
  ].join("+");
  const sort = { "sort_by.key": "created_at", "sort_by.direction": "DESCENDING", filters: filters || undefined };
  for (let [left, token] = [limit, ""]; left > 0; ) {
    const query = { ...sort, limit: Math.min(left, PAGE), token: token || undefined };
    const page = await api.call(ExecutionListSchema, pathOf("api/v1/executions", project, domain), { query });
    for (const { id, spec, closure } of page.executions) {
      yield {
        name: id?.name ?? "",
        entity: spec?.launchPlan?.name ?? "",
        version: spec?.launchPlan?.version ?? "",
        phase: nameOfPhase(WorkflowExecution_Phase, closure?.phase),
        createdAt: closure?.createdAt === undefined ? new Date(0) : timestampDate(closure.createdAt),
        error: closure?.outputResult.case === "error" ? closure.outputResult.value.message : "",
      };
    }
    left -= page.executions.length;
    token = page.token;
    if (token === "") return;
  }
}
