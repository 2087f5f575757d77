/** Whose budget a retry spends; UNKNOWN counts as the user's (contract §5.7, OutputsNotFound). */
export type FailureKind = "USER" | "SYSTEM" | "UNKNOWN";

export interface FailureDetails {
  /** Short and stable, for example `OOMKilled`; shown to users and matched by them. */
  readonly code: string;
  readonly message: string;
  readonly kind: FailureKind;
  /** What the attempt left behind must go before a retry (an image that cannot be pulled, for example). */
  readonly cleanup?: boolean;
  /** When it happened, by the clock of the worker that reported it. */
  readonly timestamp?: Date;
  /** Which worker of a distributed task reported it. */
  readonly worker?: string;
}

/** An attempt ended badly. The subclass says whether another attempt makes sense. */
export abstract class AttemptFailure extends Error {
  abstract readonly recoverable: boolean;
  readonly details: FailureDetails;

  constructor(details: FailureDetails) {
    super(details.message);
    this.details = details;
  }
}

/** Another attempt would end in the same way: none is made, whatever is left of the budget. */
export class PermanentFailure extends AttemptFailure {
  override readonly name = "PermanentFailure";
  readonly recoverable = false;

  constructor(details: Omit<FailureDetails, "kind"> & { readonly kind?: FailureKind }) {
    super({ kind: "USER", ...details });
  }
}

/** Another attempt may succeed, if the budget of its kind has room. */
export class RetryableFailure extends AttemptFailure {
  override readonly name = "RetryableFailure";
  readonly recoverable = true;
}
