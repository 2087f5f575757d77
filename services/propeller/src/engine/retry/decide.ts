import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd";

/** Whose budget a failed attempt spends. An error of unknown kind is the user's. */
export type RetryCause = "user" | "system";

/** What a node has spent, counting from attempt 0 and without the attempt that just failed. */
export interface SpentAttempts {
  /** Number of the attempt that failed. */
  readonly attempt: number;
  /** Attempts before it that were lost to system failures. */
  readonly systemFailures: number;
}

export interface RetryBudgets {
  /** Attempts in all that may end with the user's failures. */
  readonly maxAttempts: number;
  /** Attempts that may be lost to system failures. */
  readonly maxSystemFailures: number;
}

export type RetryDecision =
  | { readonly retry: true; readonly cause: RetryCause }
  | { readonly retry: false; readonly error: ExecutionErrorJson };

export function causeOf(error: ExecutionErrorJson): RetryCause {
  return error.kind === "SYSTEM" ? "system" : "user";
}

/**
 * Whether a recoverable failure is followed by another attempt. Each cause has its
 * own budget: a preempted machine costs the user no retry (contract §5.3).
 */
export function decideRetry(error: ExecutionErrorJson, spent: SpentAttempts, budgets: RetryBudgets): RetryDecision {
  const cause = causeOf(error);
  const [current, max] =
    cause === "system"
      ? [spent.systemFailures, budgets.maxSystemFailures]
      : [spent.attempt + 1 - spent.systemFailures, budgets.maxAttempts];
  if (current < max) return { retry: true, cause };
  // The error is that of all attempts and has no time of its own.
  const { timestamp: _, ...last } = error;
  return {
    retry: false,
    error: {
      ...last,
      kind: "USER",
      code: `RetriesExhausted|${error.code}`,
      message: `[${current}/${max}] currentAttempt done. Last Error: ${error.kind ?? "UNKNOWN"}::${error.message}`,
    },
  };
}
