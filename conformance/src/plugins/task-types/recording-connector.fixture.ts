import type { CreateTaskRequest } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { AgentMetadataService, AsyncAgentService } from "@flyte-ts/idl/flyteidl/service/agent_pb";
import { createRpcServer, implement } from "@flyte-ts/rpc";
import { createLogger } from "@flyte-ts/telemetry";

/** A connector that records what it is to create; every job has succeeded at the first look. */
export interface RecordingConnector {
  readonly address: string;
  readonly requests: readonly CreateTaskRequest[];
  stop(): Promise<void>;
}

/** @param outputsOf outputs of a task's jobs */
export async function startRecordingConnector(
  taskTypes: readonly string[],
  outputsOf: (taskType: string) => LiteralMap,
): Promise<RecordingConnector> {
  const requests: CreateTaskRequest[] = [];
  const agents = [{ name: "recording", supportedTaskCategories: taskTypes.map((name) => ({ name, version: 0 })) }];
  const server = createRpcServer({
    logger: createLogger({ service: "test", level: "silent" }),
    services: [
      implement(AgentMetadataService, { listAgents: () => Promise.resolve({ agents }) }),
      implement(AsyncAgentService, {
        createTask: (request) => {
          requests.push(request);
          return Promise.resolve({ resourceMeta: Buffer.from(request.template?.type ?? "") });
        },
        getTask: ({ resourceMeta }) => {
          const outputs = outputsOf(Buffer.from(resourceMeta).toString());
          return Promise.resolve({ resource: { phase: Phase.SUCCEEDED, outputs } });
        },
        deleteTask: () => Promise.resolve({}),
      }),
    ],
  });
  const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
  return { address: `127.0.0.1:${port}`, requests, stop: () => server.drain({ deadlineMs: 100 }) };
}
