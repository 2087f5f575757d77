import { guard, isFileError, passingStatus } from "../guard.js";

/** The HTTP status of an answer; those of the store, of tokens and of IAM are kept in different places. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const { code, status, response } = error as { code?: unknown; status?: unknown; response?: { status?: unknown } };
  return [code, status, response?.status].map(Number).find((each) => Number.isInteger(each) && each >= 100 && each < 600);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : "");

/** The answer, or undefined when there is no such blob. A bucket that is not there is an error, told from it by the text alone. */
export async function found<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (statusOf(error) === 404 && !/bucket does not exist/i.test(messageOf(error))) return undefined;
    throw error;
  }
}

/** Without a status there was no answer, but for files of this machine and for credentials that are not there at all. */
function passes(error: unknown): boolean {
  const status = statusOf(error);
  if (status !== undefined) return passingStatus(status);
  return !isFileError(error) && !/default credentials|client_email|Cannot sign/i.test(messageOf(error));
}

/** @throws BlobUnavailable, BlobError */
export const guarded = <T>(uri: string, work: () => Promise<T>): Promise<T> => guard(uri, passes, work);
