import { create } from "@bufbuild/protobuf";
import { type CallOptions, type Channel, Code, createClient, resumeStream, RpcError, type ServiceClient } from "@flyte-ts/client";
import type { NodeExecution } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { LiveService, type WatchExecutionResponse, WatchExecutionResponseSchema } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { type ExecutionName, pollStates } from "@flyte-ts/sdk/api";

export interface WatchClients {
  readonly live: Pick<ServiceClient<typeof LiveService>, "watchExecution">;
  readonly admin: Pick<ServiceClient<typeof AdminService>, "getExecution" | "listNodeExecutions">;
}

/** Makes the clients of a watch. */
export function clientsOf(channel: Channel): WatchClients {
  return { live: createClient({ channel, service: LiveService }), admin: createClient({ channel, service: AdminService }) };
}

/**
 * Yields the state of an execution and its changes until it ends. A server without streams, as Go
 * Flyte is, is asked repeatedly for the execution and its nodes.
 */
export async function* watchExecution(
  { live, admin }: WatchClients,
  id: ExecutionName,
  signal?: AbortSignal,
): AsyncGenerator<WatchExecutionResponse, void> {
  const call = signal && { signal };
  try {
    yield* resumeStream((cursor) => live.watchExecution({ id, cursor }, call), call);
  } catch (error) {
    if (!(error instanceof RpcError) || error.code !== Code.UNIMPLEMENTED) throw error;
    yield* resumeStream(() => polled(admin, id, call), call);
  }
}

async function* polled(admin: WatchClients["admin"], id: ExecutionName, call: CallOptions | undefined) {
  const source = { execution: () => admin.getExecution({ id }, call), nodes: () => nodesOf(admin, id, call) };
  for await (const state of pollStates(source, call?.signal)) yield create(WatchExecutionResponseSchema, state);
}

async function nodesOf(admin: WatchClients["admin"], id: ExecutionName, call: CallOptions | undefined): Promise<NodeExecution[]> {
  const nodes: NodeExecution[] = [];
  for (let token = ""; ; ) {
    const page = await admin.listNodeExecutions({ workflowExecutionId: id, limit: 100, token }, call);
    nodes.push(...page.nodeExecutions);
    token = page.token;
    if (token === "") return nodes;
  }
}
