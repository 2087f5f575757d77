import { create } from "@bufbuild/protobuf";
import type { BlobStore } from "@flyte-ts/blobstore";
import type { NodeExecution } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier, NodeExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { readStored } from "@flyte-ts/input-limits";
import { type Channel, Code, createClient, RpcError, type ServiceClient } from "@flyte-ts/rpc";
import type { CallResult } from "../../engine/calls/call.js";
import type { PriorNode, RecoveryCalls } from "../../engine/calls/recovery.js";
import { type CallHandler, CallLimiter } from "./handlers.js";
import { toCallFailure } from "./call-failure.js";

export interface RecoveryHandlerOptions {
  /** Channel to admin. */
  readonly channel: Channel;
  readonly blobs: Pick<BlobStore, "get">;
  /** Maximum of concurrent node lookups. */
  readonly concurrency: number;
}

type RecoveryCallHandlers = { readonly [K in keyof RecoveryCalls]: CallHandler<K> };

/** Attempts of a node whose tasks are read: all attempts run the same task. */
const MAX_TASK_EXECUTIONS = 1;

/** Queries admin for nodes of the executions that are being recovered. */
export function recoveryCallHandlers({ channel, blobs, concurrency }: RecoveryHandlerOptions): RecoveryCallHandlers {
  const sources: Sources = { admin: createClient({ channel, service: AdminService }), blobs };
  return new CallLimiter(concurrency).limit({
    readPriorNode: async ({ id }): Promise<CallResult<PriorNode | undefined>> => {
      try {
        return { kind: "value", value: await read(id, sources) };
      } catch (error) {
        if (error instanceof RpcError && error.code === Code.NOT_FOUND) return { kind: "value", value: undefined };
        return toCallFailure(error);
      }
    },
  });
}

interface Sources {
  readonly admin: ServiceClient<typeof AdminService>;
  readonly blobs: Pick<BlobStore, "get">;
}

async function read(id: NodeExecutionIdentifier, { admin, blobs }: Sources): Promise<PriorNode> {
  const node = await admin.getNodeExecution({ id });
  const { closure, inputUri } = node;
  const succeeded = closure?.phase === NodeExecution_Phase.SUCCEEDED || closure?.phase === NodeExecution_Phase.RECOVERED;
  const fields = closureFields(node);
  if (!succeeded) return { ...fields, succeeded, inputs: undefined, outputs: undefined, tasks: [] };
  const [data, tasks] = await Promise.all([admin.getNodeExecutionData({ id }), tasksOf(id, admin)]);
  const outputUri = closure.outputResult.case === "outputUri" ? closure.outputResult.value : "";
  return {
    ...fields,
    succeeded,
    inputs: nonEmpty(data.fullInputs) ?? (await readLiterals(blobs, inputUri)) ?? create(LiteralMapSchema),
    outputs:
      nonEmpty(data.fullOutputs) ?? (await readLiterals(blobs, outputUri)) ?? (outputUri === "" ? undefined : create(LiteralMapSchema)),
    tasks,
  };
}

function closureFields({ closure }: NodeExecution): Omit<PriorNode, "succeeded" | "inputs" | "outputs" | "tasks"> {
  const target = closure?.targetMetadata;
  const task = target?.case === "taskNodeMetadata" ? target.value : undefined;
  return {
    checkpointUri: task?.checkpointUri ?? "",
    deckUri: closure?.deckUri ?? "",
    cacheStatus: task?.cacheStatus ?? CatalogCacheStatus.CACHE_DISABLED,
    catalogKey: task?.catalogKey,
    childExecution: target?.case === "workflowNodeMetadata" ? target.value.executionId : undefined,
  };
}

/** Admin also returns an empty map for values that are too large to return. */
function nonEmpty(literals: LiteralMap | undefined): LiteralMap | undefined {
  return literals === undefined || Object.keys(literals.literals).length === 0 ? undefined : literals;
}

async function tasksOf(nodeExecutionId: NodeExecutionIdentifier, admin: Sources["admin"]): Promise<Identifier[]> {
  const { taskExecutions } = await admin.listTaskExecutions({ nodeExecutionId, limit: MAX_TASK_EXECUTIONS });
  return taskExecutions.flatMap(({ id }) => (id?.taskId === undefined ? [] : [id.taskId]));
}

/** Undefined when the blob does not exist: small data of nodes without pods is never stored. */
async function readLiterals(blobs: Sources["blobs"], uri: string): Promise<LiteralMap | undefined> {
  return uri === "" ? undefined : readStored(blobs, { uri, schema: LiteralMapSchema });
}
