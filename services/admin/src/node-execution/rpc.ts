import { fromBinary } from "@bufbuild/protobuf";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import type { DataDeps } from "../execution/data.js";
import { checkNodeId } from "../execution/identifier.js";
import { notFound } from "../invalid.js";
import { nodeData } from "./data.js";
import { findNode, findNodeWithValues } from "./find.js";
import { listNodeExecutions, listNodeExecutionsForTask } from "./list.js";
import { nodeExecutionOf } from "./row.js";

type Methods = Pick<
  ServiceImplementation<typeof AdminService>,
  "getNodeExecution" | "getNodeExecutionData" | "listNodeExecutions" | "listNodeExecutionsForTask" | "getDynamicNodeWorkflow"
>;

/** Nodes of executions: read and list. */
export function nodeExecutionRpcs(deps: DataDeps): Methods {
  const { db } = deps;
  return {
    async getNodeExecution({ id }) {
      checkNodeId(id);
      return nodeExecutionOf(await findNode(db, id), { executionId: id.executionId });
    },

    async getNodeExecutionData({ id }) {
      checkNodeId(id);
      return nodeData(deps, id);
    },

    async getDynamicNodeWorkflow({ id }) {
      checkNodeId(id);
      const { dynamic_workflow: closure } = await findNodeWithValues(db, id);
      if (closure === null) throw notFound("node does not contain dynamic workflow");
      return { compiledWorkflow: fromBinary(CompiledWorkflowClosureSchema, closure) };
    },

    listNodeExecutions: (request) => listNodeExecutions(db, request),
    listNodeExecutionsForTask: (request) => listNodeExecutionsForTask(db, request),
  };
}
