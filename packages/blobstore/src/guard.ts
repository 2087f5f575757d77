import { BlobError, BlobUnavailable } from "./errors.js";

/** Runs the work and maps a client library's error to BlobUnavailable where `passes` calls it transient, else to BlobError. */
export async function guard<T>(uri: string, passes: (error: unknown) => boolean, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BlobError) throw error;
    const Failure = passes(error) ? BlobUnavailable : BlobError;
    throw new Failure(uri, reasonOf(error), { cause: error });
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const named = error.name === "Error" || error.message.startsWith(error.name) ? error.message : `${error.name}: ${error.message}`;
  // Errors of some SDKs for an unreachable address carry a code but no message.
  return named || String("code" in error ? error.code : error.name);
}

const FILE_ERRORS: readonly unknown[] = ["ENOENT", "ENOTDIR", "EISDIR", "EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT", "EFBIG"];

/** True when a local file failed, not the store. */
export function isFileError(error: unknown): boolean {
  return error instanceof Error && "code" in error && FILE_ERRORS.includes(error.code);
}

/** HTTP statuses of transient failures. */
export const passingStatus = (status: number): boolean => status >= 500 || [408, 409, 429].includes(status);
