import type { DescMethod } from "@bufbuild/protobuf";
import type { HttpPolicy } from "@flyte-ts/http-policy";
import type { MemoryBudget, Compression } from "@flyte-ts/input-limits";
import type { Metadata, ServerInterceptingCall, ServerInterceptor, StatusObject } from "@grpc/grpc-js";
import { constants, type ServerHttp2Stream } from "node:http2";
import type { Admitted, CallGuard } from "../call-guard.js";
import { Code } from "../code.js";
import { type Dispatch, streamsIn } from "../dispatch.js";
import { Intake } from "../intake/intake.js";
import type { RequestLimits } from "../intake/request-limits.js";
import { RpcError, toRpcError } from "../rpc-error.js";
import type { CallContext } from "../service.js";
import type { UnansweredCalls } from "../server/unanswered-calls.js";

/**
 * Parts of grpc-js's server call that decide when a request is read and decompressed. They are not
 * in its published types, so its version is pinned and {@link requireInternals} checks them:
 * grpc-js would read, decompress and queue a request of any caller up to the largest message of any
 * method.
 */
export interface BaseCall {
  readonly stream: ServerHttp2Stream;
  readonly metadata: Metadata;
  readonly decoder: {
    maxReadMessageLength: number;
    /** First byte of the frame being read: 1 for a compressed message. */
    readonly readCompressFlag: Buffer;
    readonly readMessageSize: number;
    readonly readMessageRemaining: number;
  };
  maxReceiveMessageSize: number;
  start(listener: unknown): void;
  handleDataFrame(data: Buffer): void;
  handleEndEvent(): void;
  decompressMessage(framed: Buffer, encoding: string): Promise<Buffer> | Buffer;
  sendStatus(status: Partial<StatusObject>): void;
  getPeer(): string;
  getHost(): string;
}

/** Method of a server, with the function that calls its implementation. */
export interface GrpcMethod {
  readonly method: DescMethod;
  readonly dispatch: Dispatch;
}

export interface GrpcIntakeOptions {
  readonly limits: RequestLimits;
  readonly budget: MemoryBudget;
  readonly guard: CallGuard | undefined;
  /**
   * Checked before the guard: the call's authority, and the browser headers about the calling page.
   */
  readonly httpPolicy: HttpPolicy;
  /** Admitted calls whose request is incomplete. */
  readonly unanswered: UnansweredCalls<BaseCall>;
  readonly contextOf: (method: DescMethod, call: BaseCall) => CallContext;
  readonly statusOf: (error: RpcError, context: CallContext) => StatusObject;
}

/** Incoming requests of gRPC calls, by the metadata of their call. */
export interface GrpcIntake {
  readonly interceptor: ServerInterceptor;
  /** Returns the intake of a call, once its handler runs. */
  of(metadata: Metadata): Intake | undefined;
  /** Returns true when the caller has cancelled the call or is gone. */
  isCancelled(metadata: Metadata): boolean;
  /** Returns the connection of a call, as a key. */
  connectionOf(metadata: Metadata): object;
  /**
   * Records that the request of a call is complete, or that the next message of its stream is
   * awaited.
   */
  complete(metadata: Metadata): void;
  awaits(metadata: Metadata): void;
  /** Refuses a call whose request is incomplete. */
  refuse(call: BaseCall, error: RpcError): void;
}

const FRAME_HEAD_BYTES = 5;

/** Adds authentication, limits and the budget before grpc-js reads a request. */
export function createGrpcIntake(methods: ReadonlyMap<string, GrpcMethod>, options: GrpcIntakeOptions): GrpcIntake {
  const { limits, budget, guard, httpPolicy, unanswered } = options;
  const calls = new WeakMap<Metadata, { readonly call: BaseCall; readonly intake: Intake }>();
  const known = new WeakMap<BaseCall, GrpcMethod>();

  const refuse = (call: BaseCall, error: RpcError): void => {
    unanswered.delete(call);
    const found = known.get(call);
    if (found === undefined) return;
    // Discards further data.
    call.handleDataFrame = () => undefined;
    call.handleEndEvent = () => undefined;
    const context = options.contextOf(found.method, call);
    const end = (final: RpcError): void => {
      call.sendStatus(options.statusOf(final, context));
      // The rest of the request is not needed (RFC 9113, 8.1).
      call.stream.close(constants.NGHTTP2_NO_ERROR);
    };
    found.dispatch.refuse(error, context).catch((failure: unknown) => end(toRpcError(failure)));
  };

  /**
   * Registers an incomplete request; false when the call itself is refused, since too many are
   * waiting.
   */
  const wait = (call: BaseCall): boolean => {
    const refused = unanswered.add(call, connectionOf(call, call), performance.now());
    if (refused !== undefined)
      refuse(refused, new RpcError(Code.RESOURCE_EXHAUSTED, "too many calls are waiting for their request body; try again"));
    return refused !== call;
  };

  const admit = (call: BaseCall, { method }: GrpcMethod, admitted: Admitted | undefined): boolean => {
    const intake = new Intake(limits(method), budget, admitted);
    const most = intake.limits.bytes;
    // Disables grpc-js's own limit: `boundReading` refuses large messages, with a reason.
    call.decoder.maxReadMessageLength = -1;
    call.maxReceiveMessageSize = most;
    calls.set(call.metadata, { call, intake });
    call.stream.once("close", () => {
      unanswered.delete(call);
      intake.release();
    });
    boundReading(call, { intake, streams: streamsIn(method), refuse });
    return wait(call);
  };

  const interceptor: ServerInterceptor = (descriptor, next) => {
    // Passes the call on without a wrapper. The return type is the wrapper's class, which adds only
    // private members to the interface of the call.
    const passed = next as ServerInterceptingCall;
    const call = requireInternals(passed as unknown as BaseCall);
    const found = methods.get(descriptor.path);
    if (found === undefined) return passed;
    known.set(call, found);
    const start = call.start.bind(call);
    call.start = (listener) => {
      const refusal = policyRefusal(httpPolicy, call);
      if (refusal !== undefined) {
        refuse(call, refusal);
        return;
      }
      if (guard === undefined) {
        if (admit(call, found, undefined)) start(listener);
        return;
      }
      guard.admit(options.contextOf(found.method, call)).then(
        (admitted) => {
          if (!call.stream.destroyed && admit(call, found, admitted)) start(listener);
        },
        (thrown: unknown) => refuse(call, toRpcError(thrown)),
      );
    };
    return passed;
  };
  const callOf = (metadata: Metadata): BaseCall | undefined => calls.get(metadata)?.call;
  return {
    interceptor,
    of: (metadata) => calls.get(metadata)?.intake,
    isCancelled: (metadata) => {
      const { stream } = callOf(metadata) ?? {};
      return stream !== undefined && (stream.closed || stream.destroyed);
    },
    connectionOf: (metadata) => connectionOf(callOf(metadata), metadata),
    complete: (metadata) => {
      const call = callOf(metadata);
      if (call !== undefined) unanswered.delete(call);
    },
    awaits: (metadata) => {
      const call = callOf(metadata);
      if (call !== undefined && !call.stream.destroyed) wait(call);
    },
    refuse,
  };
}

/** Returns the session of a call, or the substitute once the connection is closed. */
function connectionOf(call: BaseCall | undefined, substitute: object): object {
  return call?.stream.session ?? substitute;
}

function policyRefusal(policy: HttpPolicy, call: BaseCall): RpcError | undefined {
  const text = (name: string): string | undefined => call.metadata.get(name)[0]?.toString();
  const headers = { host: call.getHost(), origin: text("origin"), "sec-fetch-site": text("sec-fetch-site") };
  const refusal = policy.checkRequest({ method: "POST", headers });
  return refusal && new RpcError(Code.PERMISSION_DENIED, refusal.reason);
}

interface Reading {
  readonly intake: Intake;
  /** True for a stream of requests, each of which is bounded on its own. */
  readonly streams: boolean;
  readonly refuse: GrpcIntake["refuse"];
}

/** Counts bytes as they arrive, and decompresses within the limits of the call. */
function boundReading(call: BaseCall, { intake, streams, refuse }: Reading): void {
  const { decoder } = call;
  const takeFrame = call.handleDataFrame.bind(call);
  let total = 0;
  call.handleDataFrame = (data) => {
    total = data.length + (streams ? decoder.readMessageSize - decoder.readMessageRemaining : total);
    try {
      intake.received(total, intake.limits.bytes + FRAME_HEAD_BYTES + (streams ? data.length : 0));
      takeFrame(data);
      const { readMessageRemaining, readMessageSize, readCompressFlag } = decoder;
      if (readMessageRemaining > 0) intake.announced(readMessageSize, readCompressFlag[0] === 0 ? undefined : intake.unpackedBytes);
    } catch (error) {
      refuse(call, toRpcError(error));
    }
  };
  const decompress = call.decompressMessage.bind(call);
  call.decompressMessage = (framed, encoding) =>
    encoding === "gzip" || encoding === "deflate"
      ? inflate(framed.subarray(FRAME_HEAD_BYTES), encoding, intake)
      : decompress(framed, encoding);
}

async function inflate(bytes: Buffer, compression: Compression, intake: Intake): Promise<Buffer> {
  try {
    return await intake.inflate(bytes, compression);
  } catch (thrown) {
    // grpc-js sends the thrown error as the status of the call.
    const { code, message } = toRpcError(thrown);
    throw Object.assign(new Error(message), { code, details: message });
  }
}

const NUMBERS = ["maxReadMessageLength", "readMessageSize", "readMessageRemaining"] as const;
const FUNCTIONS = ["start", "handleDataFrame", "handleEndEvent", "decompressMessage", "sendStatus", "getPeer", "getHost"] as const;

/**
 * @throws Error for another version of grpc-js than this was written for: it would read requests
 *   without limits.
 */
function requireInternals(call: BaseCall): BaseCall {
  const complete =
    NUMBERS.every((name) => typeof call.decoder?.[name] === "number") &&
    Buffer.isBuffer(call.decoder.readCompressFlag) &&
    FUNCTIONS.every((name) => typeof call[name] === "function");
  if (!complete) throw new Error("the installed @grpc/grpc-js reads requests in a way that this server cannot limit");
  return call;
}
