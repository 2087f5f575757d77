import { toBinary, type DescMethod, type Message } from "@bufbuild/protobuf";
import { Metadata, type Server, type ServerDuplexStream, type ServiceDefinition, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { decodeRequest } from "../intake/decode-request.js";
import { waitForDrain, type DrainOptions } from "../wait-for-drain.js";
import { EncodedMessage } from "../encoded-message.js";
import { createDispatch, streamsIn, streamsOut, type Dispatch, type DispatchOptions } from "../dispatch.js";
import type { BaseCall, GrpcIntake, GrpcMethod } from "./grpc-intake.js";
import { errorStatus } from "./grpc-trailer.js";
import { requestIdOf } from "../request-id.js";
import type { ConnectionLimits } from "../server/connection-limits.js";
import { Code } from "../code.js";
import { RpcError, toRpcError } from "../rpc-error.js";
import type { CallContext, ServedService } from "../service.js";

// Messages cross grpc-js as bytes. It would answer INTERNAL when its decode hook throws, but a
// malformed request is INVALID_ARGUMENT.
const identity = (bytes: Buffer): Buffer => bytes;

export interface GrpcServiceOptions extends DispatchOptions {
  /** Time for which a client may leave a stream unread. */
  readonly stallTimeoutMs: number;
  /**
   * Tracks the requests of calls; each method of the service is added to `methods` under its path.
   */
  readonly intake: GrpcIntake;
  readonly methods: Map<string, GrpcMethod>;
  readonly connectionLimits: ConnectionLimits;
}

/** Adds a service to a grpc-js server. */
export function addService(server: Server, served: ServedService, options: GrpcServiceOptions): void {
  if (!served.implementation) return;
  const definition: Record<string, ServiceDefinition[string]> = {};
  const handlers: UntypedServiceImplementation = {};
  for (const method of served.service.methods) {
    const path = `/${served.service.typeName}/${method.name}`;
    const dispatch = createDispatch(served, method, options);
    options.methods.set(path, { method, dispatch });
    definition[method.localName] = {
      path,
      requestStream: streamsIn(method),
      responseStream: streamsOut(method),
      requestSerialize: identity,
      requestDeserialize: identity,
      responseSerialize: identity,
      responseDeserialize: identity,
    };
    const own = served.decoders?.[method.localName];
    const decode: HandledMethod["decode"] = (bytes, metadata) => {
      options.intake.complete(metadata);
      options.intake.of(metadata)?.message(method.input, bytes, own !== undefined);
      return decodeRequest(method.input, bytes, own);
    };
    handlers[method.localName] = handlerOf({
      method,
      decode,
      dispatch,
      awaits: (metadata) => options.intake.awaits(metadata),
      runUnary: (metadata, task) =>
        options.connectionLimits.run(options.intake.connectionOf(metadata), () => {
          // The call may have been cancelled while it waited for others of its connection.
          if (options.intake.isCancelled(metadata)) throw new RpcError(Code.CANCELLED, "the caller has cancelled the call");
          return task();
        }),
      stallTimeoutMs: options.stallTimeoutMs,
    }) as HandleCall;
  }
  server.addService(definition, handlers);
}

interface HandledMethod {
  readonly method: DescMethod;
  /** Decodes one message of a call. */
  readonly decode: (bytes: Uint8Array, metadata: Metadata) => Message;
  readonly dispatch: Dispatch;
  /** Records that the next message of a stream is awaited. */
  readonly awaits: (metadata: Metadata) => void;
  /** Runs a call with one answer within the limit of its connection. */
  readonly runUnary: <T>(metadata: Metadata, task: () => Promise<T>) => Promise<T>;
  readonly stallTimeoutMs: number;
}

type HandleCall = UntypedServiceImplementation[string];
type Call = ServerDuplexStream<Buffer, Buffer> & { readonly request: Buffer };
type Callback = (error: ReturnType<typeof errorStatus> | null, response?: Buffer) => void;

/**
 * The four kinds of grpc-js handlers: with a callback for one answer, else a stream to end or
 * destroy.
 */
function handlerOf({
  method,
  decode,
  dispatch,
  awaits,
  runUnary,
  stallTimeoutMs,
}: HandledMethod): (call: Call, callback: Callback) => void {
  const encode = (message: Message | EncodedMessage): Buffer => {
    const bytes = message instanceof EncodedMessage ? message.bytes : toBinary(method.output, message);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
  const request = async (call: Call, context: CallContext): Promise<unknown> => {
    if (streamsIn(method)) return decodeEach({ decode, awaits }, call);
    try {
      return decode(call.request, call.metadata);
    } catch (thrown) {
      return dispatch.refuse(toRpcError(thrown), context);
    }
  };
  if (!streamsOut(method)) {
    return (call, callback) => {
      const context = grpcContext(method, call);
      const response = async (): Promise<Buffer> => encode(await dispatch.unary(await request(call, context), context));
      runUnary(call.metadata, response).then(
        (bytes) => {
          returnId(call, context);
          callback(null, bytes);
        },
        (thrown: unknown) => callback(failure(thrown, context)),
      );
    };
  }
  return (call) => {
    const context = grpcContext(method, call);
    returnId(call, context);
    const response = async (): Promise<void> =>
      dispatch.stream(await request(call, context), context, (message, signal) => write(call, encode(message), { signal, stallTimeoutMs }));
    response().then(
      () => call.end(),
      // grpc-js ends the call with the status of this event, after the messages still in flight;
      // `destroy` would drop both.
      (thrown: unknown) => call.emit("error", failure(thrown, context)),
    );
  };
}

const REQUEST_ID = "x-request-id";

/**
 * Returns the request id to callers that sent one; other callers get it only with a failure, to
 * find it in the logs.
 */
function returnId(call: Call, context: CallContext): void {
  if (context.metadata.get(REQUEST_ID) === undefined) return;
  const metadata = new Metadata();
  metadata.set(REQUEST_ID, context.requestId);
  call.sendMetadata(metadata);
}

function failure(thrown: unknown, context: CallContext): ReturnType<typeof errorStatus> {
  return statusOf(toRpcError(thrown), context);
}

/** Status of a failed call, with the id under which the server logs the failure. */
export function statusOf(error: RpcError, context: CallContext): ReturnType<typeof errorStatus> {
  const status = errorStatus(error);
  status.metadata.set(REQUEST_ID, context.requestId);
  return status;
}

async function* decodeEach({ decode, awaits }: Pick<HandledMethod, "decode" | "awaits">, call: Call): AsyncGenerator<Message> {
  // Leaving the loop early must not destroy the call: its answer is still to be sent.
  for await (const bytes of call.iterator({ destroyOnReturn: false })) {
    yield decode(bytes as Buffer, call.metadata);
    awaits(call.metadata);
  }
}

/** Sends one message and waits while the client is slower than the server. */
function write(call: Call, bytes: Buffer, options: DrainOptions): Promise<void> {
  options.signal.throwIfAborted();
  return call.write(bytes) ? Promise.resolve() : waitForDrain(call, options);
}

/**
 * Created for every call, so rarely used properties are computed lazily. An object with getters of
 * its own, so that an interceptor can spread it.
 */
function grpcContext(method: DescMethod, call: Pick<Call, "metadata" | "getPeer" | "cancelled" | "once">): CallContext {
  const metadata = readableMetadata(call.metadata);
  let requestId: string | undefined;
  let signal: AbortSignal | undefined;
  return {
    method,
    transport: "grpc",
    metadata,
    get requestId() {
      requestId ??= requestIdOf(metadata.get(REQUEST_ID));
      return requestId;
    },
    get peer() {
      return call.getPeer();
    },
    get signal() {
      signal ??= cancelledSignal(call);
      return signal;
    },
  };
}

function cancelledSignal(call: Pick<Call, "cancelled" | "once">): AbortSignal {
  const controller = new AbortController();
  if (call.cancelled) controller.abort();
  else call.once("cancelled", () => controller.abort());
  return controller.signal;
}

/** Context of a call that has no handler yet. */
export function contextBeforeHandler(method: DescMethod, call: BaseCall): CallContext {
  const cancelled = call.stream.destroyed;
  return grpcContext(method, { metadata: call.metadata, getPeer: () => call.getPeer(), cancelled, once: () => undefined as never });
}

const readable = new WeakMap<Metadata, CallContext["metadata"]>();

/**
 * Returns one object per call, so that code that reads metadata before and after the request can
 * recognize the call.
 */
function readableMetadata(metadata: Metadata): CallContext["metadata"] {
  let known = readable.get(metadata);
  if (known === undefined) {
    known = { get: (name) => metadata.get(name)[0]?.toString() };
    readable.set(metadata, known);
  }
  return known;
}
