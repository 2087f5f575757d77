import type { JsonObject } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { taskRef } from "../record/task-ref.js";
import type { Observed } from "./observe-task.js";
import { optionalCall } from "./optional-call.js";

/** Larger metrics are left out: events carry them. */
const MAX_BYTES = 64 * 1024;

/**
 * Reads the metrics of an ended task, from its creation on, or since this process follows it.
 * Undefined without any.
 */
export async function readMetrics({ attempt, task, endpoint, context }: Observed): Promise<JsonObject | undefined> {
  const { config, clock, logger } = context;
  if (!config.taskMetrics.enabled) return undefined;
  const { signal } = attempt.stopping;
  const now = clock.now();
  const request = {
    ...taskRef(task),
    queries: [...(config.taskMetrics.queriesOfTaskTypes[task.taskType] ?? [])],
    // The elapsed time has fractions of a millisecond.
    startTime: timestampFromMs(Math.floor(now - (clock.elapsed() - attempt.createdAtMs))),
    endTime: timestampFromMs(now),
    step: durationFromMs(config.taskMetrics.stepMs),
  };
  const run = { taskType: task.taskType, endpoint, signal, logger };
  const results = await optionalCall({ ...run, name: "GetTaskMetrics", run: (calls) => calls.getTaskMetrics(request, signal) });
  if (results === undefined || results.length === 0) return undefined;
  const metrics = Object.fromEntries(results.map(({ metric, data }) => [metric, data ?? {}]));
  const bytes = Buffer.byteLength(JSON.stringify(metrics));
  if (bytes <= MAX_BYTES) return metrics;
  logger.warn({ attempt: attempt.key, bytes, maxBytes: MAX_BYTES }, "the metrics of a task are too large to be reported");
  return undefined;
}
