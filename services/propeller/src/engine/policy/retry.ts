import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";

/** Budget that a failed attempt spends. An error of unknown kind is the user's. */
export type RetryCause = "user" | "system";

/** Attempts that a node has spent, excluding the one that just failed. */
export interface SpentAttempts {
  /** Number of the attempt that failed. */
  readonly attempt: number;
  /** Earlier attempts lost to system failures. */
  readonly systemFailures: number;
}

export interface RetryBudgets {
  /** Maximum of attempts that may end with user failures. */
  readonly maxAttempts: number;
  /** Maximum of attempts lost to system failures. */
  readonly maxSystemFailures: number;
}

export type RetryDecision =
  | { readonly retry: true; readonly cause: RetryCause }
  | { readonly retry: false; readonly error: ExecutionErrorJson };

export function causeOf(error: ExecutionErrorJson): RetryCause {
  return error.kind === "SYSTEM" ? "system" : "user";
}

/**
 * Decides whether a recoverable failure is retried. Each cause has its own budget: a preempted
 * machine costs no user retry.
 */
export function decideRetry(error: ExecutionErrorJson, spent: SpentAttempts, budgets: RetryBudgets): RetryDecision {
  const cause = causeOf(error);
  const [current, max] =
    cause === "system"
      ? [spent.systemFailures, budgets.maxSystemFailures]
      : [spent.attempt + 1 - spent.systemFailures, budgets.maxAttempts];
  if (current < max) return { retry: true, cause };
  // The error covers all attempts and has no timestamp.
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
