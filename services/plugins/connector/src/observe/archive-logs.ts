import { create } from "@bufbuild/protobuf";
import { BlobError, BlobUnavailableError } from "@flyte-ts/blobstore";
import { type TaskLog, TaskLogSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { taskRef } from "../record/task-ref.js";
import { LogText } from "./log-text.js";
import type { Observed } from "./observe-task.js";
import { optionalCall } from "./optional-call.js";

/** Name by which admin recognizes the link of an archived log; its program's name follows. */
const LINK_NAME = "Archived log of connector";

/** Copies the log of an ended task beside its outputs. Returns a link to it, if it has lines. */
export async function archiveLogs({ attempt, task, endpoint, context }: Observed): Promise<TaskLog | undefined> {
  const { config, store, logger } = context;
  if (!config.taskLogs.enabled) return undefined;
  const { signal } = attempt.stopping;
  const text = new LogText(config.taskLogs.maxBytes);
  const run = { taskType: task.taskType, endpoint, signal, logger };
  await optionalCall({
    ...run,
    name: "GetTaskLogs",
    run: (calls) => calls.getTaskLogs(taskRef(task), (body) => text.add(body), signal),
  });
  if (text.isEmpty) return undefined;
  const uri = `${attempt.source.outputPrefix}/logs/connector.log`;
  try {
    await store.put(uri, text.toBytes(), { contentType: "text/plain; charset=utf-8" });
    return create(TaskLogSchema, { name: LINK_NAME, uri });
  } catch (error) {
    if (!(error instanceof BlobUnavailableError) && !(error instanceof BlobError)) throw error;
    logger.warn({ attempt: attempt.key, error: error.message }, "the log of a task cannot be archived");
    return undefined;
  }
}
