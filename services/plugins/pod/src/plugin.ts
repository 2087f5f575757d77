import { definePlugin, type Plugin } from "@flyte-ts/task-plugin";
import type { PodAttempts } from "./pods/pod-attempts.js";

/**
 * Runs tasks of several types as pods; `plugin_identifier` has the names of Go Flyte's two plugins.
 *
 * @throws RangeError when `taskTypes` is empty or has duplicates.
 */
export function podPlugin(attempts: PodAttempts, taskTypes: readonly string[]): Plugin {
  return definePlugin({
    name: "container",
    taskTypes,
    identifierOf: (taskType) => (taskType === "sidecar" ? "sidecar" : "container"),
    start: (host) => attempts.start(host),
    stop: () => attempts.stop(),
    reconcile: (request) => attempts.reconcile(request),
    abort: (request) => attempts.abort(request),
    attemptsOf: (workflow) => attempts.attemptsOf(workflow),
    finalize: (request) => attempts.finalize(request),
  });
}
