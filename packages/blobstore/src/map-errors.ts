import { BlobError, BlobUnavailableError } from "./errors.js";

/**
 * Runs the work and maps a client library's error to BlobUnavailableError where `isTransient`
 * returns true, else to BlobError.
 */
export async function mapBlobErrors<T>(uri: string, isTransient: (error: unknown) => boolean, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (error instanceof BlobError) throw error;
    const ErrorClass = isTransient(error) ? BlobUnavailableError : BlobError;
    throw new ErrorClass(uri, errorMessage(error), { cause: error });
  }
}

function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const named = error.name === "Error" || error.message.startsWith(error.name) ? error.message : `${error.name}: ${error.message}`;
  // Errors of some SDKs for an unreachable address carry a code but no message.
  return named || String("code" in error ? error.code : error.name);
}

const LOCAL_FILE_CODES: readonly unknown[] = ["ENOENT", "ENOTDIR", "EISDIR", "EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT", "EFBIG"];

/** True when a local file failed, not the store. */
export function isLocalFileError(error: unknown): boolean {
  return error instanceof Error && "code" in error && LOCAL_FILE_CODES.includes(error.code);
}

/** HTTP statuses of transient failures. */
export const isTransientStatus = (status: number): boolean => status >= 500 || [408, 409, 429].includes(status);
