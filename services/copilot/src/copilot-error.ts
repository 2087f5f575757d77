export interface CopilotErrorOptions extends ErrorOptions {
  /** Code in the error document; default: names the failed operation. */
  readonly code?: string;
}

/** Inputs could not be downloaded or outputs not be uploaded. */
export class CopilotError extends Error {
  override readonly name = "CopilotError";
  readonly code: string | undefined;

  constructor(
    /** Error origin: USER for the task, SYSTEM for the infrastructure. */
    readonly origin: "USER" | "SYSTEM",
    message: string,
    options: CopilotErrorOptions = {},
  ) {
    super(message, options);
    this.code = options.code;
  }
}
