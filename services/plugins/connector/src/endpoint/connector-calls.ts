import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  Agent,
  CreateRequestHeaderSchema,
  CreateTaskRequestSchema,
  DeleteTaskRequestSchema,
  GetTaskLogsRequestSchema,
  GetTaskLogsResponseBody,
  GetTaskMetricsRequestSchema,
  GetTaskRequestSchema,
  Resource,
} from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import type { ExecutionMetricResult } from "@flyte-ts/idl/flyteidl/core/metrics_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";

export interface SyncTask {
  readonly header: MessageInitShape<typeof CreateRequestHeaderSchema>;
  readonly inputs: LiteralMap;
}

/**
 * The calls of one connector endpoint, each with its timeout.
 *
 * Every method rejects with an RpcError.
 */
export interface ConnectorCalls {
  listAgents(): Promise<readonly Agent[]>;
  /** Resolves to `resource_meta`, which may hold credentials and must not be logged. */
  createTask(request: MessageInitShape<typeof CreateTaskRequestSchema>): Promise<Uint8Array>;
  /** Undefined when the connector answers without a resource. */
  getTask(request: MessageInitShape<typeof GetTaskRequestSchema>, signal?: AbortSignal): Promise<Resource | undefined>;
  deleteTask(request: MessageInitShape<typeof DeleteTaskRequestSchema>): Promise<void>;
  /** Resolves at the end of the log. */
  getTaskLogs(
    request: MessageInitShape<typeof GetTaskLogsRequestSchema>,
    onLines: (body: GetTaskLogsResponseBody) => void,
    signal?: AbortSignal,
  ): Promise<void>;
  getTaskMetrics(
    request: MessageInitShape<typeof GetTaskMetricsRequestSchema>,
    signal?: AbortSignal,
  ): Promise<readonly ExecutionMetricResult[]>;
  executeTaskSync(task: SyncTask, signal?: AbortSignal): Promise<Resource | undefined>;
  /** Stays connected, and calls the listener each time that a connection is established. */
  onConnect(listener: () => void): void;
  close(): void;
}
