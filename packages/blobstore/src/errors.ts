/** The blob store refused, or the address is none; a retry changes nothing. */
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

/** The address is none, or of a kind that is not served; a retry changes nothing. */
export class BlobAddressRefused extends BlobError {
  override readonly name = "BlobAddressRefused";
}

/** The blob store does not answer, or answers that it cannot now; a retry may help. */
export class BlobUnavailable extends BlobError {
  override readonly name = "BlobUnavailable";
}

/** A blob has more bytes than the reader takes. */
export class BlobTooLarge extends BlobError {
  override readonly name = "BlobTooLarge";

  constructor(
    uri: string,
    readonly size: number,
    readonly maxBytes: number,
  ) {
    super(uri, `has ${size} bytes, more than the ${maxBytes} that are read at most`);
  }
}
