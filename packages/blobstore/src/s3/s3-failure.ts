import { guard, isFileError, passingStatus } from "../guard.js";

export function statusOf(error: unknown): number | undefined {
  const metadata = typeof error === "object" && error !== null && "$metadata" in error ? error.$metadata : undefined;
  const status = typeof metadata === "object" && metadata !== null && "httpStatusCode" in metadata ? metadata.httpStatusCode : undefined;
  return typeof status === "number" ? status : undefined;
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : "");

/** The answer, or undefined when there is no such key. A bucket that is not there is an error. */
export async function found<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (["NoSuchKey", "NotFound"].includes(nameOf(error))) return undefined;
    throw error;
  }
}

/** Whether the service does not have such a request at all, as some that speak S3's protocol in part. */
export const isNotImplemented = (error: unknown): boolean =>
  [405, 501].includes(statusOf(error) ?? 0) || nameOf(error) === "NotImplemented";

/** Without a status there was no answer: the connection failed or broke, unless it was a file of this machine that did. */
export function passes(error: unknown): boolean {
  const status = statusOf(error);
  return (
    (status === undefined ? !isFileError(error) : passingStatus(status) && !isNotImplemented(error)) &&
    nameOf(error) !== "CredentialsProviderError"
  );
}

/** @throws BlobUnavailable, BlobError */
export const guarded = <T>(uri: string, work: () => Promise<T>): Promise<T> => guard(uri, passes, work);
