import { readFile } from "node:fs/promises";
import type { Time } from "@flyte-ts/async";
import type { Resource } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import { AgentMetadataService, AsyncAgentService, SyncAgentService } from "@flyte-ts/idl/flyteidl/service/agent_pb";
import { type Channel, type ChannelTls, Code, createClient, openChannel, RpcError, type ServiceClient } from "@flyte-ts/rpc";
import type { Logger } from "@flyte-ts/telemetry";
import type { ConnectorCalls, SyncTask } from "./connector-calls.js";
import type { EndpointConfig } from "./endpoint-config.js";
import { requestHeaders } from "./request-headers.js";
import { parseTarget } from "./target.js";
import { readTlsFiles, sameTls } from "./tls-files.js";

/**
 * Delay before a replaced connection is closed, ms. By then its calls have ended; a longer call is
 * cut off and repeated.
 */
const REPLACED_CHANNEL_MS = 120_000;

interface Connection {
  readonly channel: Channel;
  readonly tls: ChannelTls | undefined;
  readonly metadata: ServiceClient<typeof AgentMetadataService>;
  readonly tasks: ServiceClient<typeof AsyncAgentService>;
  readonly syncTasks: ServiceClient<typeof SyncAgentService>;
}

/** Calls a connector over gRPC. Certificates are read again with each ListAgents. */
export class ConnectorClient implements ConnectorCalls {
  #connection: Connection;
  #onConnect: (() => void) | undefined;
  #endWatch: () => void = () => undefined;

  /** @throws Error of the file system when a certificate cannot be read. */
  constructor(
    private readonly config: EndpointConfig,
    private readonly deps: { readonly clock: Time; readonly logger: Logger },
  ) {
    this.#connection = this.#connect(readTlsFiles(config.tls));
  }

  async listAgents() {
    this.#renewCertificates();
    const { agents } = await this.#connection.metadata.listAgents({}, { deadlineMs: this.config.timeouts.listAgentsMs });
    return agents;
  }

  async createTask(request: Parameters<ConnectorCalls["createTask"]>[0]) {
    const { resourceMeta } = await this.#connection.tasks.createTask(request, { deadlineMs: this.config.timeouts.createTaskMs });
    return resourceMeta;
  }

  async getTask(request: Parameters<ConnectorCalls["getTask"]>[0], signal?: AbortSignal) {
    const options = { deadlineMs: this.config.timeouts.getTaskMs, ...(signal && { signal }) };
    return (await this.#connection.tasks.getTask(request, options)).resource;
  }

  async deleteTask(request: Parameters<ConnectorCalls["deleteTask"]>[0]) {
    await this.#connection.tasks.deleteTask(request, { deadlineMs: this.config.timeouts.deleteTaskMs });
  }

  async getTaskLogs(...[request, onLines, signal]: Parameters<ConnectorCalls["getTaskLogs"]>) {
    const options = { deadlineMs: this.config.timeouts.getTaskLogsMs, ...(signal && { signal }) };
    for await (const { part } of this.#connection.tasks.getTaskLogs(request, options)) if (part.case === "body") onLines(part.value);
  }

  async getTaskMetrics(...[request, signal]: Parameters<ConnectorCalls["getTaskMetrics"]>) {
    const options = { deadlineMs: this.config.timeouts.getTaskMetricsMs, ...(signal && { signal }) };
    return (await this.#connection.tasks.getTaskMetrics(request, options)).results;
  }

  /** Sends header and inputs, closes its side, and reads the answer to its end. */
  async executeTaskSync(task: SyncTask, signal?: AbortSignal): Promise<Resource | undefined> {
    const options = { deadlineMs: this.config.timeouts.executeTaskSyncMs, ...(signal && { signal }) };
    let first: { readonly resource: Resource | undefined } | undefined;
    for await (const { res } of this.#connection.syncTasks.executeTaskSync(syncRequests(task), options)) {
      if (first === undefined && res.case !== "header")
        throw new RpcError(Code.INTERNAL, "the first answer of ExecuteTaskSync is no header");
      if (res.case === "header") first ??= { resource: res.value.resource };
    }
    if (first === undefined) throw new RpcError(Code.INTERNAL, "ExecuteTaskSync ended without an answer");
    return first.resource;
  }

  onConnect(listener: () => void): void {
    this.#onConnect = listener;
    this.#watchConnection();
  }

  close(): void {
    this.#endWatch();
    this.#connection.channel.close();
  }

  #watchConnection(): void {
    this.#endWatch();
    if (this.#onConnect !== undefined) this.#endWatch = this.#connection.channel.onConnect(this.#onConnect);
  }

  #connect(tls: ChannelTls | undefined): Connection {
    const { address, maxResponseBytes } = this.config;
    const { endpoint } = parseTarget(address) ?? { endpoint: address };
    const channel = openChannel({
      endpoint,
      maxMessageBytes: maxResponseBytes,
      tls,
      roundRobin: true,
      metadata: () => requestHeaders(this.config, (path) => readFile(path, "utf8")),
    });
    return {
      channel,
      tls,
      metadata: createClient({ channel, service: AgentMetadataService }),
      tasks: createClient({ channel, service: AsyncAgentService }),
      syncTasks: createClient({ channel, service: SyncAgentService }),
    };
  }

  #renewCertificates(): void {
    const { clock, logger } = this.deps;
    const { channel, tls } = this.#connection;
    try {
      const read = readTlsFiles(this.config.tls);
      if (sameTls(read, tls)) return;
      this.#connection = this.#connect(read);
      this.#watchConnection();
      clock.schedule(REPLACED_CHANNEL_MS, () => channel.close());
    } catch (error) {
      logger.warn(
        { endpoint: this.config.name, error: String(error) },
        "certificates cannot be read; the connection keeps the previous ones",
      );
    }
  }
}

async function* syncRequests({ header, inputs }: SyncTask) {
  yield { part: { case: "header" as const, value: header } };
  yield { part: { case: "inputs" as const, value: inputs } };
  await Promise.resolve();
}
