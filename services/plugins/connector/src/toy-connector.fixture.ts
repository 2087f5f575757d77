import { create, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type Agent,
  AgentSchema,
  type CreateTaskRequest,
  type ExecuteTaskSyncRequest,
  type GetTaskLogsRequest,
  type GetTaskLogsResponseBody,
  GetTaskLogsResponseBodySchema,
  type Resource,
  ResourceSchema,
} from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ExecutionMetricResultSchema } from "@flyte-ts/idl/flyteidl/core/metrics_pb";
import { AgentMetadataService, AsyncAgentService, SyncAgentService } from "@flyte-ts/idl/flyteidl/service/agent_pb";
import { Code, implement, RpcError, type ServedService } from "@flyte-ts/rpc";
import type { ConnectorCalls, SyncTask } from "./endpoint/connector-calls.js";

export type ResourceInit = MessageInitShape<typeof ResourceSchema>;

export interface ToyJob {
  readonly request: CreateTaskRequest;
  starts: number;
  isDeleted: boolean;
  resource: ResourceInit;
  polls: number;
}

/**
 * A connector in this process, by direct calls or over gRPC. Jobs run until a test ends them; the
 * output prefix is their id.
 */
export class ToyConnector implements ConnectorCalls {
  readonly jobs = new Map<string, ToyJob>();
  agents: Agent[] = [
    create(AgentSchema, { name: "async", supportedTaskCategories: [{ name: "toy", version: 0 }] }),
    create(AgentSchema, { name: "sync", isSync: true, supportedTaskCategories: [{ name: "sync-toy", version: 0 }] }),
  ];
  /** Called before each call; may throw, or wait. */
  onCall: (name: string) => Promise<void> | void = () => undefined;
  /** Called after the creation, before its answer. */
  onCreated: () => void = () => undefined;
  onSync: (task: SyncTask) => ResourceInit = () => ({ phase: Phase.SUCCEEDED });
  /** Appended to the ids of jobs. */
  metaSuffix = "";
  readonly calls: string[] = [];
  /** Undefined: GetTaskLogs is not implemented. */
  logs: readonly MessageInitShape<typeof GetTaskLogsResponseBodySchema>[] | undefined;
  /** Undefined: GetTaskMetrics is not implemented. */
  metrics: Readonly<Record<string, JsonObject>> | undefined;
  readonly metricRequests: Parameters<ConnectorCalls["getTaskMetrics"]>[0][] = [];
  deleteStops = true;
  /** Tells the service that a connection was established. */
  connect: () => void = () => undefined;

  async listAgents() {
    await this.#begin("ListAgents");
    return this.agents;
  }

  async createTask(request: Parameters<ConnectorCalls["createTask"]>[0]) {
    await this.#begin("CreateTask");
    const known = this.jobs.get(request.outputPrefix ?? "");
    if (known !== undefined) known.starts++;
    const job = { request: request as CreateTaskRequest, starts: 1, isDeleted: false, polls: 0, resource: { phase: Phase.RUNNING } };
    if (known === undefined) this.jobs.set(request.outputPrefix ?? "", job);
    this.onCreated();
    return Buffer.from(`${request.outputPrefix}#${this.metaSuffix}`);
  }

  async getTask({ resourceMeta }: Parameters<ConnectorCalls["getTask"]>[0]): Promise<Resource> {
    await this.#begin("GetTask");
    const job = this.#job(resourceMeta);
    job.polls++;
    return create(ResourceSchema, job.resource);
  }

  async deleteTask({ resourceMeta }: Parameters<ConnectorCalls["deleteTask"]>[0]) {
    await this.#begin("DeleteTask");
    const job = this.#job(resourceMeta);
    job.isDeleted = true;
    if (this.deleteStops) job.resource = { phase: Phase.ABORTED };
  }

  async getTaskLogs(...[{ resourceMeta }, onLines]: Parameters<ConnectorCalls["getTaskLogs"]>) {
    await this.#begin("GetTaskLogs");
    this.#job(resourceMeta);
    if (this.logs === undefined) throw new RpcError(Code.UNIMPLEMENTED, "this toy keeps no logs");
    for (const body of this.logs) onLines(create(GetTaskLogsResponseBodySchema, body));
  }

  async getTaskMetrics(...[request]: Parameters<ConnectorCalls["getTaskMetrics"]>) {
    await this.#begin("GetTaskMetrics");
    this.#job(request.resourceMeta);
    // As flytekit's server answers for a connector without the method.
    if (this.metrics === undefined) throw new RpcError(Code.UNKNOWN, "Unexpected <class 'NotImplementedError'>: ");
    this.metricRequests.push(request);
    return Object.entries(this.metrics).map(([metric, data]) => create(ExecutionMetricResultSchema, { metric, data }));
  }

  async executeTaskSync(task: SyncTask, _signal?: AbortSignal): Promise<Resource> {
    await this.#begin("ExecuteTaskSync");
    return create(ResourceSchema, this.onSync(task));
  }

  onConnect(listener: () => void): void {
    this.connect = listener;
  }

  close(): void {
    this.calls.push("close");
  }

  /** The same connector over gRPC. */
  services(): ServedService[] {
    const sync = (requests: AsyncIterable<ExecuteTaskSyncRequest>) => this.#sync(requests);
    return [
      implement(AgentMetadataService, { listAgents: async () => ({ agents: await this.listAgents() }) }),
      implement(AsyncAgentService, {
        createTask: async (request) => ({ resourceMeta: await this.createTask(request) }),
        getTask: async (request) => ({ resource: await this.getTask(request) }),
        deleteTask: async (request) => {
          await this.deleteTask(request);
          return {};
        },
        getTaskLogs: (request) => this.#logs(request),
        getTaskMetrics: async (request) => ({ results: await this.getTaskMetrics(request) }),
      }),
      implement(SyncAgentService, { executeTaskSync: sync }),
    ];
  }

  async *#logs(request: GetTaskLogsRequest) {
    const bodies: GetTaskLogsResponseBody[] = [];
    await this.getTaskLogs(request, (body) => bodies.push(body));
    yield { part: { case: "header" as const, value: { token: "" } } };
    for (const value of bodies) yield { part: { case: "body" as const, value } };
  }

  async *#sync(requests: AsyncIterable<ExecuteTaskSyncRequest>) {
    const parts = [];
    for await (const { part } of requests) parts.push(part);
    const [header, inputs] = parts;
    if (header?.case !== "header" || inputs?.case !== "inputs") throw new RpcError(Code.INTERNAL, "header, then inputs");
    const resource = await this.executeTaskSync({ header: header.value, inputs: inputs.value });
    yield { res: { case: "header" as const, value: { resource } } };
  }

  async #begin(name: string): Promise<void> {
    this.calls.push(name);
    await this.onCall(name);
  }

  #job(resourceMeta: Uint8Array | undefined): ToyJob {
    const [prefix = ""] = Buffer.from(resourceMeta ?? [])
      .toString()
      .split("#");
    const job = this.jobs.get(prefix);
    if (job === undefined) throw new RpcError(Code.NOT_FOUND, "there is no such job");
    return job;
  }
}
