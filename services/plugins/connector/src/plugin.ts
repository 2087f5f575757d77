import { definePlugin, type Plugin } from "@flyte-ts/task-plugin";
import type { ConnectorController } from "./attempt/connector-controller.js";
import type { Discovery } from "./discovery/discovery.js";

/** Name in events and heartbeats: the id of Go Flyte's plugin. */
export const PLUGIN_NAME = "connector-service";

/** Runs the tasks of the connectors that discovery finds. */
export function connectorPlugin(controller: ConnectorController, discovery: Discovery): Plugin {
  return definePlugin({
    name: PLUGIN_NAME,
    taskTypes: [],
    dynamicTaskTypes: true,
    start: (host) => {
      controller.start(host);
      discovery.start();
    },
    stop: async () => {
      await discovery.stop();
      await controller.stop();
    },
    reconcile: (request) => controller.reconcile(request),
    abort: (request) => controller.abort(request),
    listAttempts: (workflow) => controller.listAttempts(workflow),
    finalize: (request) => controller.finalize(request),
  });
}
