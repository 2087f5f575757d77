import { mapBlobErrors, isLocalFileError, isTransientStatus } from "../map-errors.js";

/**
 * The service's error code, such as `BlobNotFound`; else the connection's. An answer to HEAD has it
 * only among its headers.
 */
export function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  const { code, details } = error as { code?: string; details?: { errorCode?: string } };
  return [code, details?.errorCode].find((each) => typeof each === "string") ?? "";
}

function statusOf(error: unknown): number | undefined {
  const status = typeof error === "object" && error !== null && "statusCode" in error ? error.statusCode : undefined;
  return typeof status === "number" ? status : undefined;
}

/**
 * Returns the answer, or undefined when the blob does not exist. A missing container is an error.
 */
export async function undefinedIfMissing<T>(response: Promise<T>): Promise<T | undefined> {
  try {
    return await response;
  } catch (error) {
    if (codeOf(error) === "BlobNotFound") return undefined;
    throw error;
  }
}

/**
 * Errors without a status are transient (no answer), except those of local files and of missing or
 * unauthorized identities.
 */
function isTransient(error: unknown): boolean {
  const status = statusOf(error);
  if (status !== undefined) return isTransientStatus(status);
  if (isLocalFileError(error)) return false;
  return !(error instanceof Error && /^(CredentialUnavailableError|AuthenticationError|AggregateAuthenticationError)$/.test(error.name));
}

/** @throws BlobUnavailableError, BlobError */
export const mapErrors = <T>(uri: string, operation: () => Promise<T>): Promise<T> => mapBlobErrors(uri, isTransient, operation);
