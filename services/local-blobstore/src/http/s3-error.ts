/** Codes of the S3 protocol that this server answers with, their HTTP status and usual text. */
const CODES = {
  AccessDenied: [403, "Access Denied"],
  AuthorizationHeaderMalformed: [400, "The authorization header is malformed"],
  AuthorizationQueryParametersError: [400, "The authorization query parameters are malformed"],
  BadDigest: [400, "The digest that was sent does not match the content that arrived"],
  BucketAlreadyOwnedByYou: [409, "The bucket is there already and is yours"],
  BucketNotEmpty: [409, "The bucket is not empty"],
  EntityTooLarge: [400, "The body is too large"],
  EntityTooSmall: [400, "A part other than the last is too small"],
  IncompleteBody: [400, "Fewer or more bytes arrived than were announced"],
  InternalError: [500, "The server failed; the request may be repeated"],
  InvalidAccessKeyId: [403, "There is no such access key"],
  InvalidArgument: [400, "An argument is invalid"],
  InvalidBucketName: [400, "The bucket's name is invalid"],
  InvalidDigest: [400, "The digest is malformed"],
  InvalidPart: [400, "A part is not there or its ETag differs"],
  InvalidPartOrder: [400, "The parts are not in ascending order"],
  InvalidRange: [416, "The range is outside the object"],
  InvalidRequest: [400, "The request is invalid"],
  InvalidURI: [400, "The URI cannot be read"],
  KeyTooLongError: [400, "The key has more than 1024 bytes"],
  MalformedXML: [400, "The XML is not well-formed or not of the expected form"],
  MetadataTooLarge: [400, "The metadata is too large"],
  MethodNotAllowed: [405, "The method is not allowed here"],
  MissingContentLength: [411, "Content-Length is required"],
  NoSuchBucket: [404, "The bucket does not exist"],
  NoSuchKey: [404, "The key does not exist"],
  NoSuchUpload: [404, "The upload does not exist; it may have been completed or aborted"],
  NotImplemented: [501, "This server does not implement the request"],
  PreconditionFailed: [412, "A precondition did not hold"],
  RequestTimeTooSkewed: [403, "The difference between the request time and the server's is too large"],
  SignatureDoesNotMatch: [403, "The signature does not match; check the secret key and the way of signing"],
  SlowDown: [503, "The server is out of resources for now"],
  XAmzContentSHA256Mismatch: [400, "The x-amz-content-sha256 that was sent does not match the content that arrived"],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type S3ErrorCode = keyof typeof CODES;

/** A refusal in the terms of the S3 protocol. */
export class S3Error extends Error {
  override readonly name = "S3Error";
  readonly status: number;

  constructor(
    readonly code: S3ErrorCode,
    message?: string,
    /** Headers that the answer has besides. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message ?? CODES[code][1]);
    this.status = CODES[code][0];
  }
}
