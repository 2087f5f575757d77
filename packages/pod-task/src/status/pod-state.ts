import type { PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";

/** State of a pod as it matters to its attempt. */
export type PodState =
  /** No news: the pod is submitted. */
  | { readonly kind: "waiting" }
  | {
      readonly kind: "progress";
      readonly phase: "QUEUED" | "INITIALIZING" | "RUNNING";
      readonly reason?: string;
      readonly occurredAt?: Date;
      /**
       * Time at which the state must be derived again without a change of the pod: the end of a
       * grace period.
       */
      readonly recheckAt?: Date;
    }
  /** The task's own process succeeded; its output files decide. */
  | { readonly kind: "succeeded"; readonly occurredAt: Date }
  | { readonly kind: "failed"; readonly failure: PermanentFailure | RetryableFailure; readonly occurredAt: Date };

export interface GracePeriods {
  readonly createContainerErrorMs: number;
  readonly createContainerConfigErrorMs: number;
  readonly imagePullBackOffMs: number;
  /** Maximum time in Pending, ms; 0: no limit. */
  readonly podPendingMs: number;
}

/** Joins the reason of a status with Kubernetes' latest warning. */
export function joinReasons(reason: string | undefined, warning: string | undefined): string | undefined {
  return reason === undefined || warning === undefined ? (reason ?? warning) : `${reason}; ${warning}`;
}
