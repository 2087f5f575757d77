import type { HistoryService } from "@flyte-ts/idl/flytets/admin/v1/history_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import { type ImportDeps, importExecution } from "./import-execution.js";

/** Imports executions that ran elsewhere. */
export function historyRpcs(deps: ImportDeps): ServiceImplementation<typeof HistoryService> {
  return {
    async importExecution(request) {
      await importExecution(deps, request);
      return {};
    },
  };
}
