import { definePlugin, type Plugin } from "@flyte-ts/task-plugin";
import type { PodAttempts } from "./pods/pod-attempts.js";

/** Runs tasks as pods. Several task types, one way; `plugin_identifier` is what Go Flyte's two plugins were called. */
export function podPlugin(attempts: PodAttempts): Plugin {
  return definePlugin({
    name: "container",
    taskTypes: ["container", "python-task", "raw-container", "sidecar"],
    identifierOf: (taskType) => (taskType === "sidecar" ? "sidecar" : "container"),
    start: (host) => attempts.start(host),
    stop: () => attempts.stop(),
    reconcile: (request) => attempts.reconcile(request),
    abort: (request) => attempts.abort(request),
    finalize: (request) => attempts.finalize(request),
  });
}
