import { BlobUnavailableError } from "@flyte-ts/blobstore";
import { isTransient, KubeError } from "@flyte-ts/kubernetes";
import { RetryLater, PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";
import { isQuotaExceeded, exceedsQuotaTotal } from "./quota.js";

/**
 * Every namespace gets this account shortly after its creation; one of another name may never
 * appear.
 */
const DEFAULT_ACCOUNT_MISSING = /error looking up service account [^ ]+\/default: /;

/**
 * Maps an error of creating a pod or another object to the attempt's error. Always
 * returns an error to throw.
 */
export function toCreateError(error: unknown): Error {
  if (!(error instanceof KubeError)) return error instanceof Error ? error : new Error(String(error));
  const { message, status } = error;
  if (isTransient(error)) return kubeUnavailable(error);
  if (status === 403 && isQuotaExceeded(message)) {
    if (exceedsQuotaTotal(message)) {
      return new PermanentFailure({ code: "ResourceRequestsExceedLimits", message: `requested resources exceed limits: ${message}` });
    }
    return new RetryLater("quota exceeded", {
      status: { phase: "WAITING_FOR_RESOURCES", reason: `Exceeded resourcequota: ${message}` },
      cause: error,
    });
  }
  if (status === 403 && DEFAULT_ACCOUNT_MISSING.test(message)) return new RetryLater(message, { cause: error });
  // The API server's store failed.
  if (status === 403 && message.includes("etcdserver:")) return kubeUnavailable(error);
  switch (status) {
    case 403:
      return new RetryableFailure({ code: "RuntimeFailure", message, kind: "USER" });
    case 400:
    case 422:
      return new PermanentFailure({ code: "BadTaskFormat", message });
    case 413:
      return new PermanentFailure({ code: "EntityTooLarge", message });
    default:
      // Namespace or permission is still missing: the installation is incomplete.
      return new RetryLater(message, { cause: error });
  }
}

/** Kubernetes is unavailable now; users see why their task does not progress. */
export function kubeUnavailable(error: unknown): RetryLater {
  const retryAfterMs = error instanceof KubeError ? error.retryAfterMs : undefined;
  const message = `the Kubernetes API is unavailable: ${error instanceof Error ? error.message : String(error)}`;
  return new RetryLater(message, { cause: error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
}

/**
 * Converts a transient error of Kubernetes or the blob store to RetryLater; others are returned
 * unchanged.
 */
export function asRetryLater(error: unknown): Error {
  if (isTransient(error)) return kubeUnavailable(error);
  if (error instanceof BlobUnavailableError) return new RetryLater(`the blob store is unavailable: ${error.message}`, { cause: error });
  return error instanceof Error ? error : new Error(String(error));
}
