import { BlobError, BlobTooLargeError } from "@flyte-ts/blobstore";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { StoredMessageError } from "@flyte-ts/input-limits";
import { Code, RpcError, type ServiceImplementation } from "@flyte-ts/rpc";
import type { DataDeps } from "../execution/data.js";
import { checkNodeId } from "../model/identifier.js";
import { notFound } from "../../platform/index.js";
import { nodeData } from "./data.js";
import { readDynamicWorkflow } from "./dynamic-workflow.js";
import { findNode, findNodeWithValues } from "../store/node/find.js";
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
      const row = await findNodeWithValues(db, id);
      const compiledWorkflow = await readDynamicWorkflow(deps.blobs, row).catch((cause: unknown) => {
        if (cause instanceof StoredMessageError || cause instanceof BlobTooLargeError)
          throw new RpcError(
            Code.OUT_OF_RANGE,
            `the workflow of this node at ${row.dynamic_workflow_uri} cannot be read: ${cause.message}`,
            { cause },
          );
        if (!(cause instanceof BlobError)) throw cause;
        throw new RpcError(Code.UNAVAILABLE, `the workflow of this node at ${row.dynamic_workflow_uri} cannot be read now`, { cause });
      });
      if (compiledWorkflow === undefined) throw notFound("node does not contain dynamic workflow");
      return { compiledWorkflow };
    },

    listNodeExecutions: (request) => listNodeExecutions(db, request),
    listNodeExecutionsForTask: (request) => listNodeExecutionsForTask(db, request),
  };
}
