import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import type { DataDeps } from "../execution/data.js";
import { checkTaskId, taskNotFound } from "../model/identifier.js";
import { taskData } from "./data.js";
import { findTaskExecution } from "../store/attempt/find.js";
import { listTaskExecutions } from "./list.js";
import { taskExecutionsOf } from "./row.js";

type Methods = Pick<ServiceImplementation<typeof AdminService>, "getTaskExecution" | "getTaskExecutionData" | "listTaskExecutions">;

/** Attempts of tasks: read and list. */
export function taskExecutionRpcs(deps: DataDeps): Methods {
  const { db } = deps;
  return {
    async getTaskExecution({ id }) {
      checkTaskId(id);
      const [found] = await taskExecutionsOf(db, id.nodeExecutionId.executionId, [await findTaskExecution(db, id)]);
      if (found === undefined) throw taskNotFound(id);
      return found;
    },

    async getTaskExecutionData({ id }) {
      checkTaskId(id);
      return taskData(deps, id);
    },

    listTaskExecutions: (request) => listTaskExecutions(db, request),
  };
}
