/** S3 error codes of this server, each with its HTTP status and default message. */
const CODES = {
  AccessDenied: [403, "Access Denied"],
  AuthorizationHeaderMalformed: [400, "The authorization header is malformed"],
  AuthorizationQueryParametersError: [400, "The authorization query parameters are malformed"],
  BadDigest: [400, "The declared digest does not match the received content"],
  BucketAlreadyOwnedByYou: [409, "The bucket already exists and is owned by you"],
  BucketNotEmpty: [409, "The bucket is not empty"],
  EntityTooLarge: [400, "The body is too large"],
  EntityTooSmall: [400, "A part other than the last is too small"],
  IncompleteBody: [400, "The number of received bytes differs from the declared length"],
  InternalError: [500, "Internal error; the request may be retried"],
  InvalidAccessKeyId: [403, "The access key does not exist"],
  InvalidArgument: [400, "An argument is invalid"],
  InvalidBucketName: [400, "The bucket's name is invalid"],
  InvalidDigest: [400, "The digest is malformed"],
  InvalidPart: [400, "A part does not exist or has another ETag"],
  InvalidPartOrder: [400, "The parts are not in ascending order"],
  InvalidRange: [416, "The range is outside the object"],
  InvalidRequest: [400, "The request is invalid"],
  InvalidURI: [400, "The URI is malformed"],
  KeyTooLongError: [400, "The key has more than 1024 bytes"],
  MalformedXML: [400, "The XML is not well-formed or does not match the schema"],
  MetadataTooLarge: [400, "The metadata is too large"],
  MethodNotAllowed: [405, "The method is not allowed here"],
  MissingContentLength: [411, "Content-Length is required"],
  NoSuchBucket: [404, "The bucket does not exist"],
  NoSuchKey: [404, "The key does not exist"],
  NoSuchUpload: [404, "The upload does not exist; it may have been completed or aborted"],
  NotImplemented: [501, "This server does not implement the request"],
  PreconditionFailed: [412, "A precondition failed"],
  RequestTimeTooSkewed: [403, "The difference between the request time and the server's is too large"],
  SignatureDoesNotMatch: [403, "The signature does not match; check the secret key and the signing method"],
  SlowDown: [503, "The server is temporarily out of resources"],
  XAmzContentSHA256Mismatch: [400, "x-amz-content-sha256 does not match the received content"],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type S3ErrorCode = keyof typeof CODES;

/** An error in terms of the S3 protocol. */
export class S3Error extends Error {
  override readonly name = "S3Error";
  readonly status: number;

  constructor(
    readonly code: S3ErrorCode,
    message?: string,
    /** Additional headers of the response. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message ?? CODES[code][1]);
    this.status = CODES[code][0];
  }
}
