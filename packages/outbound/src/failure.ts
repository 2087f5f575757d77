/** What was to be sent has not been taken, and may be later. */
export class SendLater extends Error {
  override readonly name = "SendLater";

  constructor(
    message: string,
    /** How long the receiver asks to be left alone, milliseconds. */
    readonly retryAfterMs?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What was to be sent will never be taken. */
export class SendRefused extends Error {
  override readonly name = "SendRefused";
}
