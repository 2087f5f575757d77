export interface KubeErrorOptions {
  readonly status: number;
  readonly reason?: string;
  readonly retryAfterMs?: number | undefined;
  readonly objectName?: string | undefined;
  readonly cause?: unknown;
}

/** An error response of the API server, or no response (status 0). */
export class KubeError extends Error {
  override readonly name = "KubeError";
  /** HTTP status; 0 when the server could not be reached. */
  readonly status: number;
  /** Machine-readable reason of the Status object, for instance `AlreadyExists`. */
  readonly reason: string;
  /** Delay that the server asked for, ms, if any. */
  readonly retryAfterMs: number | undefined;
  /** Name of the object that the Status object is about, if any. */
  readonly objectName: string | undefined;

  constructor(message: string, options: KubeErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.status = options.status;
    this.reason = options.reason ?? "";
    this.retryAfterMs = options.retryAfterMs;
    this.objectName = options.objectName;
  }
}

const hasStatus = (error: unknown, status: number) => error instanceof KubeError && error.status === status;

/**
 * True for any 404, also of a proxy without a route or of a server without the type: the client
 * itself returns the absence of an object.
 */
export const isNotFound = (error: unknown): boolean => hasStatus(error, 404);
/** True when the API server itself has answered that this object does not exist. */
export const isObjectMissing = (error: unknown, name: string): boolean =>
  isNotFound(error) && (error as KubeError).reason === "NotFound" && (error as KubeError).objectName === name;
export const isGone = (error: unknown): boolean => hasStatus(error, 410);
/** The object to create exists already. */
export const isAlreadyExists = (error: unknown): boolean => hasStatus(error, 409) && (error as KubeError).reason === "AlreadyExists";
/** The object was changed since it was read. */
export const isConflict = (error: unknown): boolean => hasStatus(error, 409) && (error as KubeError).reason !== "AlreadyExists";
/** Error codes before a connection exists. */
const CONNECTION_ERROR_CODES: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/**
 * True when the request cannot have changed anything: it was not sent, or was rejected before it
 * was processed.
 */
export function wasNotApplied(error: unknown): boolean {
  if (!(error instanceof KubeError)) return false;
  if (error.status !== 0) return error.status === 401 || error.status === 429;
  return CONNECTION_ERROR_CODES.has((error.cause as { code?: unknown } | undefined)?.code);
}

/** True when a retry may succeed: no connection, overload, a server that starts or stops. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof KubeError)) return false;
  return error.status === 0 || error.status === 429 || error.status >= 500;
}
