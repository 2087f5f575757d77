import { systemRandom, type Time } from "@flyte-ts/async";
import type { Plugin, PluginHeartbeat } from "@flyte-ts/task-plugin";
import type { Logger, Metrics } from "@flyte-ts/telemetry";
import { ConnectorController } from "./attempt/connector-controller.js";
import type { ConnectorServiceConfig } from "./config.js";
import { Discovery } from "./discovery/discovery.js";
import type { FindUnclaimed } from "./discovery/unclaimed-types.js";
import type { ConnectorCalls } from "./endpoint/connector-calls.js";
import { ConnectorClient } from "./endpoint/connector-client.js";
import { Endpoint } from "./endpoint/endpoint.js";
import type { EndpointConfig } from "./endpoint/endpoint-config.js";
import { connectorMetrics } from "./metrics.js";
import { connectorPlugin, PLUGIN_NAME } from "./plugin.js";
import type { DataStore } from "./result/read-result.js";

export type ConnectorSettings = Pick<
  ConnectorServiceConfig,
  | "endpoints"
  | "connectorForTaskTypes"
  | "excludedTaskTypes"
  | "discovery"
  | "polling"
  | "pollingOfTaskTypes"
  | "failures"
  | "abort"
  | "limits"
  | "taskLogs"
  | "taskMetrics"
>;

export interface ConnectorServiceDeps {
  readonly config: ConnectorSettings;
  readonly store: DataStore;
  readonly clock: Time;
  readonly logger: Logger;
  readonly metrics?: Metrics | undefined;
  readonly random?: () => number;
  /** Default: each task type may belong to another plugin service. */
  readonly findUnclaimed?: FindUnclaimed;
  /** Opens the calls of an endpoint. Default: gRPC. */
  readonly connect?: (endpoint: EndpointConfig) => ConnectorCalls;
}

export interface ConnectorService {
  readonly plugin: Plugin;
  /** Consumes a heartbeat of any plugin service. */
  onHeartbeat(heartbeat: PluginHeartbeat): void;
  /** Number of calls in progress or queued. */
  openCalls(): number;
  close(): void;
}

/**
 * Assembles the service from its settings.
 *
 * @throws Error of the file system when a certificate cannot be read.
 */
export function connectorService(deps: ConnectorServiceDeps): ConnectorService {
  const { config, store, clock, logger, random = systemRandom } = deps;
  const connect = deps.connect ?? ((endpoint: EndpointConfig) => new ConnectorClient(endpoint, { clock, logger }));
  const metrics: ReturnType<typeof connectorMetrics> | undefined =
    deps.metrics === undefined ? undefined : connectorMetrics(deps.metrics, () => ({ endpoints, controller }));
  const endpoints: readonly Endpoint[] = config.endpoints.map(
    (endpoint) =>
      new Endpoint(endpoint, {
        calls: connect(endpoint),
        clock,
        random,
        onBack: (back) => controller.onEndpointBack(back),
        ...(metrics && { onCall: metrics.onCall }),
      }),
  );
  const controller: ConnectorController = new ConnectorController({
    endpoints,
    store,
    clock,
    random,
    logger,
    routes: () => discovery.routes,
    refreshRoutes: () => discovery.refresh(),
    onAbandoned: metrics?.onAbandoned,
    config: {
      polling: config.polling,
      pollingOfTaskTypes: config.pollingOfTaskTypes,
      ...config.failures,
      limits: config.limits,
      taskLogs: config.taskLogs,
      taskMetrics: config.taskMetrics,
      stop: { ...config.abort, unavailableMs: config.failures.unavailableMs, maxErrors: config.failures.getTaskErrors },
    },
  });
  const discovery: Discovery = new Discovery({
    endpoints,
    config: { ...config.discovery, explicit: config.connectorForTaskTypes, excluded: config.excludedTaskTypes },
    clock,
    logger,
    pluginName: PLUGIN_NAME,
    findUnclaimed: deps.findUnclaimed ?? (() => Promise.resolve(new Set())),
    onRoutes: (routes, changed) => controller.onRoutes(routes, changed),
  });
  return {
    plugin: connectorPlugin(controller, discovery),
    onHeartbeat: (heartbeat) => discovery.onHeartbeat(heartbeat),
    openCalls: () => endpoints.reduce((sum, { openCalls }) => sum + openCalls, 0),
    close: () => {
      for (const endpoint of endpoints) endpoint.close();
    },
  };
}
