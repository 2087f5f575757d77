import { RestError } from "@flyte-ts/client/browser";

const MAX_RETRIES = 3;

/** Reports whether a failed query is repeated: only a failure that may pass by itself. */
export function retryTransient(failures: number, error: Error): boolean {
  return failures < MAX_RETRIES && error instanceof RestError && error.isTransient;
}
