/** The retry budget to use; UNKNOWN counts as the user's (OutputsNotFound). */
export type FailureKind = "USER" | "SYSTEM" | "UNKNOWN";

export interface FailureDetails {
  /** Short and stable, for example `OOMKilled`; shown to users and matched by them. */
  readonly code: string;
  readonly message: string;
  readonly kind: FailureKind;
  /**
   * Remove the attempt's objects before a retry (for an image that cannot be pulled, for example).
   */
  readonly cleanup?: boolean;
  /** Time of the failure, by the clock of the worker that reported it. */
  readonly timestamp?: Date;
  /** Worker of a distributed task that reported it. */
  readonly worker?: string;
}

/** An attempt failed. The subclass says whether to retry. */
export abstract class AttemptFailure extends Error {
  abstract readonly recoverable: boolean;
  readonly details: FailureDetails;

  constructor(details: FailureDetails) {
    super(details.message);
    this.details = details;
  }
}

/** Another attempt would fail in the same way: no retry, whatever is left of the budget. */
export class PermanentFailure extends AttemptFailure {
  override readonly name = "PermanentFailure";
  readonly recoverable = false;

  constructor(details: Omit<FailureDetails, "kind"> & { readonly kind?: FailureKind }) {
    super({ kind: "USER", ...details });
  }
}

/** Another attempt may succeed, if the budget of its kind allows it. */
export class RetryableFailure extends AttemptFailure {
  override readonly name = "RetryableFailure";
  readonly recoverable = true;
}
