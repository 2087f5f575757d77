/** The blob store refused the request, or the address is invalid; permanent. */
export class BlobError extends Error {
  override readonly name: string = "BlobError";

  constructor(
    readonly uri: string,
    reason: string,
    options?: ErrorOptions,
  ) {
    super(`${uri}: ${reason}`, options);
  }
}

/** The address is invalid or its scheme is not accepted; permanent. */
export class BlobUriError extends BlobError {
  override readonly name = "BlobUriError";
}

/** The blob store does not answer, or reports a transient failure; a retry may help. */
export class BlobUnavailableError extends BlobError {
  override readonly name = "BlobUnavailableError";
}

/** The blob exceeds the reader's limit. */
export class BlobTooLargeError extends BlobError {
  override readonly name = "BlobTooLargeError";

  constructor(
    uri: string,
    readonly size: number,
    readonly maxBytes: number,
  ) {
    super(uri, `has ${size} bytes, more than the ${maxBytes} allowed`);
  }
}
