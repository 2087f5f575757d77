import { BlobError, BlobUnavailable } from "./errors.js";

/** Runs the work; what a client library throws becomes BlobUnavailable where `passes` says that it may pass, else BlobError. */
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
  // Nothing but an address that failed has come from some of them.
  return named || String("code" in error ? error.code : error.name);
}

const FILE_ERRORS: readonly unknown[] = ["ENOENT", "ENOTDIR", "EISDIR", "EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT", "EFBIG"];

/** Whether it was a file of this machine that failed, and not the store. */
export function isFileError(error: unknown): boolean {
  return error instanceof Error && "code" in error && FILE_ERRORS.includes(error.code);
}

/** Statuses that tell of the moment, not of the request. */
export const passingStatus = (status: number): boolean => status >= 500 || [408, 409, 429].includes(status);
