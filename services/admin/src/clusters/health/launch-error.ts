import { wasNotApplied } from "@flyte-ts/kubernetes";
import { apiFailureReason } from "./health.js";

/** Retryable failure; the message has the reason for operators. */
export class RetryableLaunchError extends Error {
  override readonly name = "RetryableLaunchError";
  /** Blocker in words for users; undefined: none yet. */
  readonly blocker: string | undefined;
  /** True when the cluster certainly did not create the resource. */
  readonly notApplied: boolean;

  constructor(
    message: string,
    { cause, blocker, notApplied = false }: { cause?: unknown; blocker?: string | undefined; notApplied?: boolean } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.blocker = blocker;
    this.notApplied = notApplied;
  }
}

/** Error for a failure of the data plane's API. */
export function clusterUnavailable(cause: unknown, notApplied = wasNotApplied(cause)): RetryableLaunchError {
  const failure = apiFailureReason(cause);
  return new RetryableLaunchError(cause instanceof Error ? cause.message : String(cause), {
    cause,
    notApplied,
    blocker: failure && `the data plane rejected the execution, it is retried: ${failure}`,
  });
}

/**
 * Awaits an answer of the data plane's API.
 *
 * @throws RetryableLaunchError when the request fails.
 */
export async function orClusterUnavailable<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    throw clusterUnavailable(error);
  }
}
