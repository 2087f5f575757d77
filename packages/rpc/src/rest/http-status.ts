import { Code } from "../code.js";

/** Maps a gRPC code to an HTTP status, as grpc-gateway does. */
export function httpStatusOf(code: Code): number {
  switch (code) {
    case Code.OK:
      return 200;
    case Code.CANCELLED:
      return 499;
    case Code.INVALID_ARGUMENT:
    case Code.FAILED_PRECONDITION:
    case Code.OUT_OF_RANGE:
      return 400;
    case Code.UNAUTHENTICATED:
      return 401;
    case Code.PERMISSION_DENIED:
      return 403;
    case Code.NOT_FOUND:
      return 404;
    case Code.ALREADY_EXISTS:
    case Code.ABORTED:
      return 409;
    case Code.RESOURCE_EXHAUSTED:
      return 429;
    case Code.UNIMPLEMENTED:
      return 501;
    case Code.UNAVAILABLE:
      return 503;
    case Code.DEADLINE_EXCEEDED:
      return 504;
    case Code.UNKNOWN:
    case Code.INTERNAL:
    case Code.DATA_LOSS:
      return 500;
  }
}
