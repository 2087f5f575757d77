import { OPERATION_STATES } from "../hive/hive-client.js";
import { bytesAt, structAt, textAt, type ThriftStruct, ThriftReader } from "../hive/thrift/decode.js";
import { binary, type Encoded, i32, int32, struct, text } from "../hive/thrift/encode.js";
import { Faults } from "./faults.fixture.js";

type State = (typeof OPERATION_STATES)[number];

interface Operation {
  readonly session: string;
  readonly statement: string;
  state: State;
  error?: { readonly sqlState: string; readonly message: string } | undefined;
}

/** HiveServer2's service in memory, in Thrift over HTTP. Statements end when they are told. */
export class FakeHive {
  /** Open sessions and their users' configuration. */
  readonly sessions = new Map<string, ReadonlyMap<string, string>>();
  readonly operations: Operation[] = [];
  readonly faults = new Faults();
  readonly calls: string[] = [];
  /** Headers of the last request. */
  headers = new Headers();
  /** Error of each ExecuteStatement. */
  refusal: { readonly sqlState: string; readonly message: string } | undefined;
  readonly fetch = ((_: string, init: RequestInit) => this.faults.apply(() => this.#respond(init))) as unknown as typeof fetch;

  finish(state: State = "FINISHED", error?: Operation["error"]): void {
    for (const operation of this.operations) if (isOpen(operation)) Object.assign(operation, { state, error });
  }

  startsOf(part: string): number {
    return this.operations.filter(({ statement }) => statement.includes(part)).length;
  }

  get running(): number {
    return this.operations.filter(isOpen).length;
  }

  #respond({ body, headers }: RequestInit): Response {
    this.headers = new Headers(headers as Record<string, string>);
    const reader = new ThriftReader(Buffer.from(body as Uint8Array));
    reader.int32();
    const name = reader.binary().toString();
    reader.int32();
    this.calls.push(name);
    return new Response(new Uint8Array(reply(name, this.#answer(name, structAt(reader.struct(), 1)))));
  }

  #answer(name: string, request: ThriftStruct | undefined): Encoded {
    switch (name) {
      case "OpenSession":
        return this.#open(request);
      case "ExecuteStatement":
        return this.#execute(request);
      case "GetOperationStatus":
        return this.#status(this.#operation(request));
      case "CancelOperation":
        return this.#end(this.#operation(request), "CANCELED");
      case "CloseSession":
        return this.#close(handleIn(request));
      default:
        throw new Error(`the stand-in does not know ${name}`);
    }
  }

  #open(request: ThriftStruct | undefined): Encoded {
    const id = handleOf("1", this.calls.length);
    const pairs = ((request?.get(4) ?? []) as readonly Buffer[]).map(String);
    this.sessions.set(id, new Map(pairs.flatMap((key, at) => (at % 2 === 0 ? [[key, pairs[at + 1] ?? ""] as const] : []))));
    return struct({ 1: SUCCESS, 2: i32(7), 3: struct({ 1: identifier(id) }) });
  }

  #execute(request: ThriftStruct | undefined): Encoded {
    const session = handleIn(request);
    if (!this.sessions.has(session)) return invalidHandle("Session");
    if (this.refusal !== undefined) return struct({ 1: failure(this.refusal) });
    this.operations.push({ session, statement: textAt(request, 2) ?? "", state: "RUNNING" });
    const handle = { 1: identifier(handleOf("2", this.operations.length - 1)), 2: i32(0), 3: { type: 2, bytes: Uint8Array.of(0) } };
    return struct({ 1: SUCCESS, 2: struct(handle) });
  }

  #status(operation: Operation | undefined): Encoded {
    if (operation === undefined) return invalidHandle("Operation");
    const { state, error } = operation;
    const shown = error && { 3: text(error.sqlState), 5: text(error.message) };
    return struct({ 1: SUCCESS, 2: i32(OPERATION_STATES.indexOf(state)), ...shown });
  }

  #end(operation: Operation | undefined, state: State): Encoded {
    if (operation === undefined) return invalidHandle("Operation");
    if (isOpen(operation)) operation.state = state;
    return struct({ 1: SUCCESS });
  }

  /** Closing a session closes its statements, whose handles are then unknown. */
  #close(session: string): Encoded {
    if (!this.sessions.delete(session)) return invalidHandle("Session");
    for (const operation of this.operations) if (operation.session === session) this.#end(operation, "CLOSED");
    return struct({ 1: SUCCESS });
  }

  #operation(request: ThriftStruct | undefined): Operation | undefined {
    const operation = this.operations[Number.parseInt(handleIn(request).slice(1, 32), 16)];
    return operation !== undefined && this.sessions.has(operation.session) ? operation : undefined;
  }
}

const SUCCESS = struct({ 1: i32(0) });

function failure({ sqlState, message }: { readonly sqlState: string; readonly message: string }): Encoded {
  return struct({ 1: i32(3), 3: text(sqlState), 4: i32(0), 5: text(message) });
}

/** As Hive and Spark report it: an error like any other. */
function invalidHandle(kind: string): Encoded {
  return struct({ 1: failure({ sqlState: "", message: `Invalid ${kind}Handle: ${kind}Handle [gone]` }) });
}

function reply(name: string, result: Encoded): Buffer {
  return Buffer.concat([int32(0x8001_0002 | 0), text(name).bytes, int32(0), struct({ 0: result }).bytes]);
}

function handleOf(kind: string, index: number): string {
  return `${kind}${index.toString(16).padStart(31, "0")}${"5".repeat(32)}`;
}

function identifier(hex: string): Encoded {
  const bytes = Buffer.from(hex, "hex");
  return struct({ 1: binary(bytes.subarray(0, 16)), 2: binary(bytes.subarray(16)) });
}

/** Handle in the first field of a request. */
function handleIn(request: ThriftStruct | undefined): string {
  const id = structAt(structAt(request, 1), 1);
  return Buffer.concat([bytesAt(id, 1) ?? Buffer.of(), bytesAt(id, 2) ?? Buffer.of()]).toString("hex");
}

function isOpen({ state }: Operation): boolean {
  return state === "RUNNING";
}
