import type { ErrorService } from "@flyte-ts/idl/flytets/admin/v1/error_groups_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import type { ExecutionsDeps } from "../deps.js";
import { checkExecutionId, watchedExecutionNotFound } from "../model/identifier.js";
import { findExecutionId } from "../store/execution/find.js";
import { groupErrors } from "./group-errors.js";

/** Errors of executions. */
export function errorRpcs({ db }: Pick<ExecutionsDeps, "db">): ServiceImplementation<typeof ErrorService> {
  return {
    async getErrorGroups({ id }) {
      checkExecutionId(id);
      const rowId = await findExecutionId(db, id);
      if (rowId === undefined) throw watchedExecutionNotFound(id);
      return groupErrors(db, rowId);
    },
  };
}
