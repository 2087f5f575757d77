import { retry } from "@flyte-ts/async";
import { BlobUnavailableError } from "@flyte-ts/blobstore";
import type { Resource } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import type { StatusDetails, TerminalStatus } from "@flyte-ts/task-plugin";
import { externalResource } from "../result/external-resource.js";
import type { ReportedState } from "../result/task-phase.js";
import { taskResult } from "../result/task-result.js";
import type { LiveAttempt } from "../attempt/live-attempt.js";
import type { StepContext } from "./step.js";

const STORE_RETRY = { initialMs: 1_000, maxMs: 15_000, jitter: 0.4 };

/**
 * Returns what users see of a task: links, information of its connector, the job as an external
 * resource, plugin state.
 */
export function shownDetails(attempt: LiveAttempt, resource: Resource): StatusDetails {
  const { logLinks, customInfo } = resource;
  return {
    ...(logLinks.length > 0 && { logs: logLinks }),
    ...(customInfo && { customInfo }),
    externalResources: [externalResource(attempt, resource)],
    ...attempt.pluginState(),
  };
}

/**
 * Returns the terminal status of a task. Waits for the blob store where the result has to be read
 * or written, since a synchronous connector answers only once.
 */
export async function finishedStatus(
  attempt: LiveAttempt,
  { resource, state }: { readonly resource: Resource; readonly state: ReportedState & { readonly kind: "succeeded" | "failed" } },
  context: StepContext,
): Promise<TerminalStatus> {
  const details = shownDetails(attempt, resource);
  if (state.kind === "failed") return { phase: "FAILED", failure: state.failure, ...details };
  const { store, config, clock, random } = context;
  const { failure, outputs } = await retry(
    () => taskResult(resource, attempt.source, { store, limits: config.limits }),
    {
      ...STORE_RETRY,
      random,
      signal: attempt.stopping.signal,
      isRetryable: (error) => error instanceof BlobUnavailableError,
      onRetry: (error) => context.show(attempt, attempt.waiting(`the outputs cannot be stored or read yet: ${String(error)}`)),
    },
    clock,
  );
  if (failure !== undefined) return { phase: "FAILED", failure, ...details };
  const reason = resource.message === "" ? {} : { reason: resource.message };
  return { phase: "SUCCEEDED", ...reason, ...details, ...(outputs && { outputs }) };
}
