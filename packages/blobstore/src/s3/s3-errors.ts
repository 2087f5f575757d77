import { mapBlobErrors, isLocalFileError, isTransientStatus } from "../map-errors.js";

export function statusOf(error: unknown): number | undefined {
  const metadata = typeof error === "object" && error !== null && "$metadata" in error ? error.$metadata : undefined;
  const status = typeof metadata === "object" && metadata !== null && "httpStatusCode" in metadata ? metadata.httpStatusCode : undefined;
  return typeof status === "number" ? status : undefined;
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : "");

/** Returns the answer, or undefined when the key does not exist. A missing bucket is an error. */
export async function undefinedIfMissing<T>(response: Promise<T>): Promise<T | undefined> {
  try {
    return await response;
  } catch (error) {
    if (["NoSuchKey", "NotFound"].includes(nameOf(error))) return undefined;
    throw error;
  }
}

/**
 * True when the service does not implement the request, as some that support S3's protocol in part.
 */
export const isNotImplemented = (error: unknown): boolean =>
  [405, 501].includes(statusOf(error) ?? 0) || nameOf(error) === "NotImplemented";

/**
 * Errors without a status are transient (the connection failed or broke), except those of local
 * files.
 */
export function isTransient(error: unknown): boolean {
  const status = statusOf(error);
  return (
    (status === undefined ? !isLocalFileError(error) : isTransientStatus(status) && !isNotImplemented(error)) &&
    nameOf(error) !== "CredentialsProviderError"
  );
}

/** @throws BlobUnavailableError, BlobError */
export const mapErrors = <T>(uri: string, operation: () => Promise<T>): Promise<T> => mapBlobErrors(uri, isTransient, operation);
