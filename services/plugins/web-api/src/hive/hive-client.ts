import { ApiError } from "../frame/call/api-error.js";
import type { Endpoint } from "../frame/call/endpoint.js";
import { checkStatus, firstLines, type HiveError } from "./hive-errors.js";
import { type HiveAccess, postThrift } from "./http-transport.js";
import { bytesAt, numberAt, structAt, textAt, type ThriftStruct } from "./thrift/decode.js";
import { binary, bool, type Encoded, i32, struct, text, textMap } from "./thrift/encode.js";
import { decodeReply, encodeCall } from "./thrift/message.js";

/** HIVE_CLI_SERVICE_PROTOCOL_V8, of Hive 2 and Spark; a newer server accepts it. */
const PROTOCOL_VERSION = 7;
const EXECUTE_STATEMENT = 0;
/** Bytes of each of the two parts of a handle. */
const HANDLE_PART = 16;

/** State of a statement, by TOperationState. */
export const OPERATION_STATES = [
  "INITIALIZED",
  "RUNNING",
  "FINISHED",
  "CANCELED",
  "CLOSED",
  "ERROR",
  "UNKNOWN",
  "PENDING",
  "TIMEDOUT",
] as const;

export interface OperationStatus {
  readonly state: (typeof OPERATION_STATES)[number];
  readonly error: HiveError;
}

/**
 * Calls HiveServer2's TCLIService over HTTP, through the endpoint. Handles are hexadecimal.
 * @throws ApiError
 */
export class HiveClient {
  constructor(
    private readonly access: HiveAccess,
    private readonly endpoint: Endpoint,
    private readonly send: typeof fetch = fetch,
  ) {}

  /** Opens a session; `configuration` as TOpenSessionReq defines it. */
  async openSession(configuration: Readonly<Record<string, string>>): Promise<string> {
    const request = struct({ 1: i32(PROTOCOL_VERSION), 2: text(this.access.user), 4: textMap(configuration) });
    const answer = await this.endpoint.write("OpenSession", (signal) => this.#call("OpenSession", request, signal));
    return handleAt(structAt(answer, 3), "OpenSession");
  }

  /** Starts a statement without waiting for its end. */
  async execute(session: string, statement: string): Promise<string> {
    const request = struct({ 1: sessionHandle(session), 2: text(statement), 4: bool(true) });
    const answer = await this.endpoint.write("ExecuteStatement", (signal) => this.#call("ExecuteStatement", request, signal));
    return handleAt(structAt(answer, 2), "ExecuteStatement");
  }

  async operationStatus(operation: string): Promise<OperationStatus> {
    const request = struct({ 1: operationHandle(operation) });
    const answer = await this.endpoint.read("GetOperationStatus", (signal) => this.#call("GetOperationStatus", request, signal));
    const error = { sqlState: textAt(answer, 3) ?? "", message: firstLines(textAt(answer, 5) ?? "") };
    return { state: OPERATION_STATES[numberAt(answer, 2) ?? -1] ?? "UNKNOWN", error };
  }

  async cancelOperation(operation: string): Promise<void> {
    const request = struct({ 1: operationHandle(operation) });
    await this.endpoint.write("CancelOperation", (signal) => this.#call("CancelOperation", request, signal));
  }

  /** Closes a session, which ends the statements in it. */
  async closeSession(session: string): Promise<void> {
    const request = struct({ 1: sessionHandle(session) });
    await this.endpoint.write("CloseSession", (signal) => this.#call("CloseSession", request, signal));
  }

  async #call(name: string, request: Encoded, signal: AbortSignal): Promise<ThriftStruct> {
    const bytes = await postThrift(this.access, { body: encodeCall(name, request), signal }, this.send);
    const answer = decoded(name, bytes);
    checkStatus(name, structAt(answer, 1));
    return answer;
  }
}

function decoded(name: string, bytes: Buffer): ThriftStruct {
  try {
    return decodeReply(bytes);
  } catch (error) {
    throw new ApiError("unavailable", { code: "BadAnswer", message: `${name}: ${(error as Error).message}`, cause: error });
  }
}

function sessionHandle(hex: string): Encoded {
  return struct({ 1: handleIdentifier(hex) });
}

function operationHandle(hex: string): Encoded {
  return struct({ 1: handleIdentifier(hex), 2: i32(EXECUTE_STATEMENT), 3: bool(false) });
}

function handleIdentifier(hex: string): Encoded {
  const bytes = Buffer.from(hex, "hex");
  return struct({ 1: binary(bytes.subarray(0, HANDLE_PART)), 2: binary(bytes.subarray(HANDLE_PART)) });
}

/** Reads the THandleIdentifier in a handle. */
function handleAt(handle: ThriftStruct | undefined, call: string): string {
  const identifier = structAt(handle, 1);
  const [guid, secret] = [bytesAt(identifier, 1), bytesAt(identifier, 2)];
  if (guid?.length === HANDLE_PART && secret?.length === HANDLE_PART) return Buffer.concat([guid, secret]).toString("hex");
  throw new ApiError("unavailable", { code: "BadAnswer", message: `${call}: the answer has no handle` });
}
