export interface FailureOptions extends ErrorOptions {
  /** Of the error's document; by default it tells what could not be done. */
  readonly code?: string;
}

/** Why inputs could not be brought or outputs not be taken. */
export class CopilotFailure extends Error {
  override readonly name = "CopilotFailure";
  readonly code: string | undefined;

  constructor(
    /** Whose doing it is: the task's, or that of the machines below it. */
    readonly origin: "USER" | "SYSTEM",
    message: string,
    options: FailureOptions = {},
  ) {
    super(message, options);
    this.code = options.code;
  }
}
