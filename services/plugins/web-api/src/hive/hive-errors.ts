import { ApiError, type ApiErrorCause } from "../frame/call/api-error.js";
import { numberAt, textAt, type ThriftStruct } from "./thrift/decode.js";

/** Codes of TStatus. */
const STATUS = { SUCCESS: 0, SUCCESS_WITH_INFO: 1, STILL_EXECUTING: 2, INVALID_HANDLE: 4 } as const;
/** Sentences about a handle that the server does not know; their status may be any error's. */
const UNKNOWN_HANDLE = /Invalid (?:Session|Operation)Handle|Session does not exist/i;
/** Sentences about a server that is full. */
const FULL = /cannot accept new task|connection limit|too many (?:open )?(?:sessions|connections)/i;
/** Sentences about a session whose database or configuration the server does not accept. */
const BAD_SESSION =
  /(?:database|schema) .*(?:does not exist|not found|cannot be found)|hive configuration \S+ does not exist|cannot modify \S+ at runtime/is;
/** Classes of SQLSTATE for errors of the statement: features, data, integrity, syntax, access. */
const OF_STATEMENT = /^(?:0A|2[0-9]|42)/;

/** SQLSTATE and text of an error of HiveServer2. */
export interface HiveError {
  readonly sqlState: string;
  readonly message: string;
}

/** Throws ApiError unless the status of an answer (TStatus) is one of success. */
export function checkStatus(call: string, status: ThriftStruct | undefined): void {
  const code = numberAt(status, 1);
  if (code === STATUS.SUCCESS || code === STATUS.SUCCESS_WITH_INFO || code === STATUS.STILL_EXECUTING) return;
  const error = { sqlState: textAt(status, 3) ?? "", message: firstLines(textAt(status, 5) ?? `${call} failed without a message`) };
  const kind = code === STATUS.INVALID_HANDLE ? "missing" : causeOf(error);
  throw new ApiError(kind, { code: errorCode(error), message: error.message });
}

/** Code of a failure: the SQLSTATE, where there is one. */
export function errorCode({ sqlState }: HiveError): string {
  return sqlState === "" ? "HiveError" : `HiveError${sqlState}`;
}

/** True for errors that the same statement meets again. */
export function isErrorOfStatement({ sqlState }: HiveError): boolean {
  return OF_STATEMENT.test(sqlState);
}

/** The message without the stack of the server. */
export function firstLines(message: string): string {
  return message
    .split("\n")
    .filter((line) => !/^\s+at \S+\(/.test(line))
    .join("\n")
    .slice(0, 2_000);
}

function causeOf(error: HiveError): ApiErrorCause {
  if (UNKNOWN_HANDLE.test(error.message)) return "missing";
  if (FULL.test(error.message)) return "throttled";
  return isErrorOfStatement(error) || BAD_SESSION.test(error.message) ? "invalid" : "unavailable";
}
