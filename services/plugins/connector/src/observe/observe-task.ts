import type { Resource } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import type { LiveAttempt } from "../attempt/live-attempt.js";
import type { Endpoint } from "../endpoint/endpoint.js";
import type { CreatedTask } from "../record/created-task.js";
import type { StepContext } from "../step/step.js";
import { archiveLogs } from "./archive-logs.js";
import { readMetrics } from "./read-metrics.js";

export interface Observed {
  readonly attempt: LiveAttempt;
  readonly task: CreatedTask;
  readonly endpoint: Endpoint;
  readonly context: StepContext;
}

/**
 * Adds to the last answer about a task what its connector knows besides: a link to the copy of its
 * log, and `metrics` in its information.
 */
export async function observeTask(observed: Observed, resource: Resource): Promise<Resource> {
  const [log, metrics] = await Promise.all([archiveLogs(observed), readMetrics(observed)]);
  return {
    ...resource,
    ...(log && { logLinks: [...resource.logLinks, log] }),
    ...(metrics && { customInfo: { metrics, ...resource.customInfo } }),
  };
}
