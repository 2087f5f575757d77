import { toBinary, type DescMethod, type Message } from "@bufbuild/protobuf";
import { Metadata, type Server, type ServerDuplexStream, type ServiceDefinition, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { decodeRequest } from "./decode.js";
import { drained, type DrainOptions } from "./drained.js";
import { Encoded } from "./encoded.js";
import { createDispatch, streamsIn, streamsOut, type Dispatch, type DispatchOptions } from "./dispatch.js";
import { errorStatus } from "./grpc-trailer.js";
import { requestIdOf } from "./request-id.js";
import { toRpcError } from "./rpc-error.js";
import type { CallContext, ServedService } from "./service.js";

// Messages cross grpc-js as bytes. It would answer INTERNAL when its decode
// hook throws, and a request that does not decode is INVALID_ARGUMENT.
const identity = (bytes: Buffer): Buffer => bytes;

export interface GrpcServiceOptions extends DispatchOptions {
  /** How long a client may take nothing of a stream. */
  readonly stallMs: number;
}

/** Adds a service to a grpc-js server. */
export function addService(server: Server, served: ServedService, options: GrpcServiceOptions): void {
  if (!served.implementation) return;
  const definition: Record<string, ServiceDefinition[string]> = {};
  const handlers: UntypedServiceImplementation = {};
  for (const method of served.service.methods) {
    definition[method.localName] = {
      path: `/${served.service.typeName}/${method.name}`,
      requestStream: streamsIn(method),
      responseStream: streamsOut(method),
      requestSerialize: identity,
      requestDeserialize: identity,
      responseSerialize: identity,
      responseDeserialize: identity,
    };
    const decode = (bytes: Uint8Array): Message => decodeRequest(method.input, bytes, served.decoders?.[method.localName]);
    handlers[method.localName] = handlerOf({
      method,
      decode,
      dispatch: createDispatch(served, method, options),
      stallMs: options.stallMs,
    }) as HandleCall;
  }
  server.addService(definition, handlers);
}

interface Handled {
  readonly method: DescMethod;
  readonly decode: (bytes: Uint8Array) => Message;
  readonly dispatch: Dispatch;
  readonly stallMs: number;
}

type HandleCall = UntypedServiceImplementation[string];
type Call = ServerDuplexStream<Buffer, Buffer> & { readonly request: Buffer };
type Callback = (error: ReturnType<typeof errorStatus> | null, response?: Buffer) => void;

/** The four shapes of grpc-js handlers: with a callback where one message answers, else a stream to end or destroy. */
function handlerOf({ method, decode, dispatch, stallMs }: Handled): (call: Call, callback: Callback) => void {
  const encode = (message: Message | Encoded): Buffer => {
    const bytes = message instanceof Encoded ? message.bytes : toBinary(method.output, message);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
  const request = (call: Call): unknown => (streamsIn(method) ? decodeEach(decode, call) : decode(call.request));
  if (!streamsOut(method)) {
    return (call, callback) => {
      const context = grpcContext(method, call);
      const answer = async (): Promise<Buffer> => encode(await dispatch.one(request(call), context));
      answer().then(
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
    const answer = async (): Promise<void> =>
      dispatch.many(request(call), context, (message, signal) => write(call, encode(message), { signal, stallMs }));
    answer().then(
      () => call.end(),
      // grpc-js ends the call with the status of this event, after the messages still on their way; `destroy` would drop them and it.
      (thrown: unknown) => call.emit("error", failure(thrown, context)),
    );
  };
}

const REQUEST_ID = "x-request-id";

/** Who gave the call an id gets it back; to others it is told when the call fails, and somebody has to look for why. */
function returnId(call: Call, context: CallContext): void {
  if (context.metadata.get(REQUEST_ID) === undefined) return;
  const metadata = new Metadata();
  metadata.set(REQUEST_ID, context.requestId);
  call.sendMetadata(metadata);
}

function failure(thrown: unknown, context: CallContext): ReturnType<typeof errorStatus> {
  const status = errorStatus(toRpcError(thrown));
  status.metadata.set(REQUEST_ID, context.requestId);
  return status;
}

async function* decodeEach(decode: Handled["decode"], call: Call): AsyncGenerator<Message> {
  // Leaving the loop early must not destroy the call: its answer is still to be sent.
  for await (const bytes of call.iterator({ destroyOnReturn: false })) yield decode(bytes as Buffer);
}

/** Hands one message over and waits while the client is slower than the server. */
function write(call: Call, bytes: Buffer, options: DrainOptions): Promise<void> {
  options.signal.throwIfAborted();
  return call.write(bytes) ? Promise.resolve() : drained(call, options);
}

/**
 * Made for every call, so what few handlers ask for is made when they ask. An
 * object with getters of its own, so that an interceptor can spread it.
 */
function grpcContext(method: DescMethod, call: Call): CallContext {
  const metadata: CallContext["metadata"] = { get: (name) => call.metadata.get(name)[0]?.toString() };
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

function cancelledSignal(call: Call): AbortSignal {
  const controller = new AbortController();
  if (call.cancelled) controller.abort();
  else call.once("cancelled", () => controller.abort());
  return controller.signal;
}
