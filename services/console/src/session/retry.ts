import { RestError } from "@flyte-ts/client/browser";

const MAX_RETRIES = 3;
const UNAUTHENTICATED = 16;

/** Reports whether a failed query is repeated: only a failure that may pass by itself. */
export function retryTransient(failures: number, error: Error): boolean {
  return failures < MAX_RETRIES && error instanceof RestError && error.isTransient;
}

/** Reports whether the server has answered a query with a refusal other than a missing sign-in. */
export function isRefused(error: Error | null): boolean {
  return error instanceof RestError && !error.isTransient && error.code !== UNAUTHENTICATED;
}
