import { mapBlobErrors, isLocalFileError, isTransientStatus } from "../map-errors.js";

/** HTTP status of an error; the store, the token service and IAM keep it in different places. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const { code, status, response } = error as { code?: unknown; status?: unknown; response?: { status?: unknown } };
  return [code, status, response?.status].map(Number).find((each) => Number.isInteger(each) && each >= 100 && each < 600);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : "");

/**
 * Returns the answer, or undefined when the blob does not exist. A missing bucket is an error,
 * which only its text distinguishes.
 */
export async function undefinedIfMissing<T>(response: Promise<T>): Promise<T | undefined> {
  try {
    return await response;
  } catch (error) {
    if (statusOf(error) === 404 && !/bucket does not exist/i.test(messageOf(error))) return undefined;
    throw error;
  }
}

/**
 * Errors without a status are transient (no answer), except those of local files and of missing
 * credentials.
 */
function isTransient(error: unknown): boolean {
  const status = statusOf(error);
  if (status !== undefined) return isTransientStatus(status);
  return !isLocalFileError(error) && !/default credentials|client_email|Cannot sign/i.test(messageOf(error));
}

/** @throws BlobUnavailableError, BlobError */
export const mapErrors = <T>(uri: string, operation: () => Promise<T>): Promise<T> => mapBlobErrors(uri, isTransient, operation);
