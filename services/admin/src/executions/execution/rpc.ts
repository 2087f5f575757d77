import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { ExecutionSchema, ExecutionState } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { type CallContext, EncodedMessage, type ServiceImplementation } from "@flyte-ts/rpc";
import { nanosOfDate } from "@flyte-ts/execution-state";
import type { ExecutionsDeps } from "../deps.js";
import { invalidArgument } from "../../platform/index.js";
import { ExpansionCache, LaunchPlanCache } from "../../registry/index.js";
import { loadExecutionTiming, type TimingDeps } from "../timing/load-timing.js";
import { executionSpan } from "../timing/spans.js";
import { type CreateDeps, createExecution } from "../create/create.js";
import type { DataDeps } from "../blobs/read-values.js";
import { executionData } from "./data.js";
import { findExecution } from "../store/execution/find.js";
import { checkExecutionId, executionNotFound } from "../model/identifier.js";
import { listExecutions } from "./list.js";
import { recoverExecution, relaunchExecution } from "../create/repeat.js";
import { withBusProblem } from "./bus-problem.js";
import { encodeExecution } from "./row.js";
import { terminateExecution } from "./terminate.js";
import { setArchiveState } from "../store/execution/update.js";

type Methods = Pick<
  ServiceImplementation<typeof AdminService>,
  | "createExecution"
  | "relaunchExecution"
  | "recoverExecution"
  | "getExecution"
  | "updateExecution"
  | "getExecutionData"
  | "listExecutions"
  | "terminateExecution"
  | "getExecutionMetrics"
>;

/** Principal of the call; empty without authentication. */
const callerOf = ({ caller }: CallContext) => ({
  principal: caller?.subject ?? "",
  launcher: caller && { issuer: caller.issuer, groups: caller.groups },
});

/** Executions: create, relaunch, recover, read, list, archive, terminate. */
export function executionRpcs(given: CreateDeps & DataDeps & TimingDeps & Pick<ExecutionsDeps, "publishChanged">): Methods {
  const { db, clock, bus } = given;
  const deps = { ...given, launchPlans: new LaunchPlanCache(db), expansionCache: new ExpansionCache(db) };
  return {
    createExecution: async (request, context) => ({ id: await createExecution(deps, request, callerOf(context)) }),
    relaunchExecution: async (request, context) => ({ id: await relaunchExecution(deps, request, callerOf(context)) }),
    recoverExecution: async (request, context) => ({ id: await recoverExecution(deps, request, callerOf(context)) }),

    async getExecution({ id }) {
      checkExecutionId(id);
      const row = await findExecution(db, id);
      return new EncodedMessage(ExecutionSchema, encodeExecution(withBusProblem(row, bus.unhealthyReason?.(), clock())));
    },

    async getExecutionData({ id }) {
      checkExecutionId(id);
      return executionData(deps, id);
    },

    listExecutions: (request) => listExecutions(db, request),

    async updateExecution({ id, state }, context) {
      checkExecutionId(id);
      if (ExecutionState[state] === undefined) throw invalidArgument(`invalid value for state: ${state} is neither ACTIVE nor ARCHIVED`);
      const changedAt = nanosOfDate(clock());
      const rowId = await setArchiveState(db, id, { state, changedAt, changedBy: callerOf(context).principal });
      if (rowId === undefined) throw executionNotFound(id);
      deps.publishChanged?.([rowId]);
      return {};
    },

    async terminateExecution({ id, cause }, context) {
      checkExecutionId(id);
      await terminateExecution(deps, id, { cause, ...callerOf(context) });
      return {};
    },

    async getExecutionMetrics({ id, depth }) {
      checkExecutionId(id);
      return { span: executionSpan(await loadExecutionTiming(deps, id, depth), depth) };
    },
  };
}
