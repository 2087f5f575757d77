import { ApiError, type ApiErrorCause, causeOfStatus } from "../frame/call/api-error.js";

/** Names of throttling errors, some of which have status 400. */
const THROTTLING = /Throttl|TooManyRequests|RequestLimitExceeded|SlowDown/i;
/** Errors of credentials that are renewed by themselves. */
const EXPIRED = /^(ExpiredToken|RequestExpired|RequestTimeTooSkewed)/;
const MISSING_CREDENTIALS = "CredentialsProviderError";

/** Runs a call of an AWS SDK. @throws ApiError */
export async function callAws<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw awsError(error);
  }
}

/** Classifies an error of an AWS SDK; one without a status means that the connection failed. */
export function awsError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const name = error instanceof Error ? error.name : "Error";
  const text = error instanceof Error ? error.message || name : String(error);
  const { httpStatusCode } = (error as { $metadata?: { httpStatusCode?: number } } | null)?.$metadata ?? {};
  return new ApiError(causeOf(name, httpStatusCode), { code: name, message: text, cause: error });
}

function causeOf(name: string, status: number | undefined): ApiErrorCause {
  if (THROTTLING.test(name)) return "throttled";
  if (EXPIRED.test(name) || name === MISSING_CREDENTIALS || status === undefined) return "unavailable";
  return causeOfStatus(status);
}
