import { definePlugin, type Plugin } from "@flyte-ts/task-plugin";
import type { JobController } from "./controller/job-controller.js";

/** Runs tasks as resources of operators; its task types are the kinds that the cluster serves. */
export function operatorPlugin(controller: JobController): Plugin {
  return definePlugin({
    name: "operator",
    taskTypes: [],
    dynamicTaskTypes: true,
    // As in Go Flyte, where each kind has a plugin of the task type's name.
    pluginIdentifierFor: (taskType) => taskType,
    start: (host) => controller.start(host),
    stop: () => controller.stop(),
    reconcile: (request) => controller.reconcile(request),
    abort: (request) => controller.abort(request),
    listAttempts: (workflow) => controller.listAttempts(workflow),
    finalize: (request) => controller.finalize(request),
  });
}
