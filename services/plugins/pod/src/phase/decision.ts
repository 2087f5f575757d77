import type { PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";

/** What a pod's state means for its attempt. */
export type Decision =
  /** Nothing that has not been told: the pod is submitted. */
  | { readonly kind: "waiting" }
  | {
      readonly kind: "progress";
      readonly phase: "QUEUED" | "INITIALIZING" | "RUNNING";
      readonly reason?: string;
      readonly occurredAt?: Date;
      /** When the same state means something else: a grace period ends. */
      readonly recheckAt?: Date;
    }
  /** The task's own process ended well; what it wrote decides (contract §5.7). */
  | { readonly kind: "succeeded"; readonly occurredAt: Date }
  | { readonly kind: "failed"; readonly failure: PermanentFailure | RetryableFailure; readonly occurredAt: Date };

export interface GracePeriods {
  readonly createContainerErrorMs: number;
  readonly createContainerConfigErrorMs: number;
  readonly imagePullBackOffMs: number;
  /** Longest time in Pending; 0: no limit. */
  readonly podPendingMs: number;
}
