/** Kind and origin of an error, as Flyte's error document has them. */
export interface ErrorClass {
  /** A `transient` error lets the server start another attempt. */
  readonly kind: "transient" | "permanent";
  readonly origin: "user" | "system";
  readonly code: string;
}

/** The task's code cannot be started. */
export class BootstrapError extends Error {
  override readonly name = "BootstrapError";

  constructor(
    message: string,
    readonly errorClass: ErrorClass,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Class of failures that another attempt may not meet. */
export const SYSTEM_FAILURE: ErrorClass = { kind: "transient", origin: "system", code: "SYSTEM" };
