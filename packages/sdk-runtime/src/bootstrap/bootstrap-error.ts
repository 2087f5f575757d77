import type { ErrorClass } from "../failure/error-class.js";

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
