/** The receiver did not accept the message; a retry may succeed. */
export class RetryableSendError extends Error {
  override readonly name = "RetryableSendError";

  constructor(
    message: string,
    /** Delay that the receiver asks for, ms. */
    readonly retryAfterMs?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The receiver will never accept the message. */
export class PermanentSendError extends Error {
  override readonly name = "PermanentSendError";
}
