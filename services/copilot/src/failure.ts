/** Why inputs could not be brought or outputs not be taken. */
export class CopilotFailure extends Error {
  override readonly name = "CopilotFailure";

  constructor(
    /** Whose doing it is: the task's, or that of the machines below it. */
    readonly origin: "USER" | "SYSTEM",
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
