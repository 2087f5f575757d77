import {
  create,
  fromBinary,
  toBinary,
  type DescMessage,
  type DescMethod,
  type DescService,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { Client as GrpcClient, credentials, Metadata, type CallOptions as GrpcCallOptions, type ServiceError } from "@grpc/grpc-js";
import { Code } from "../code.js";
import { statusDetails } from "../grpc/grpc-trailer.js";
import { receivedError, RpcError } from "../rpc-error.js";
import { watchConnection } from "./watch-connection.js";

/** Largest message that a client accepts: executions of many nodes come in one response. */
export const CLIENT_MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Default deadline of calls with one answer. Streams have none. */
export const DEFAULT_DEADLINE_MS = 30_000;

export interface CallOptions {
  /** From now, ms. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  /** Metadata of the call, beside that of the client. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Certificates of a connection, PEM. */
export interface ChannelTls {
  /** Roots to trust; absent: those of the system. */
  readonly roots?: Buffer | undefined;
  /** Certificate and key that the client presents; both or none. */
  readonly certificate?: Buffer | undefined;
  readonly privateKey?: Buffer | undefined;
  /** Name to find in the server's certificate, if it is not the host of the endpoint. */
  readonly serverName?: string | undefined;
}

export interface ChannelOptions {
  /** `host:port` or `http://host:port` in plaintext, `https://host:port` over TLS. */
  readonly endpoint: string;
  readonly maxMessageBytes?: number;
  /** Largest message that it sends; default: any. */
  readonly maxSendBytes?: number;
  /** Connects over TLS, whatever the scheme of the endpoint. */
  readonly tls?: ChannelTls | undefined;
  /** Spreads the calls over all addresses of the host; default: one connection. */
  readonly roundRobin?: boolean;
  /**
   * Deadline of calls with one answer, unless they set one; default {@link DEFAULT_DEADLINE_MS}.
   */
  readonly deadlineMs?: number;
  /** Called before every call, for instance for an `authorization`. */
  readonly metadata?: () => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** Called when a call ended as UNAUTHENTICATED: its `authorization` is no longer valid. */
  readonly onUnauthenticated?: () => void;
}

/**
 * A connection to one endpoint, shared by the clients of several services. It connects on the first
 * call and reconnects after a loss.
 */
export interface Channel {
  /** Resolves when connected; rejects with UNAVAILABLE after `deadlineMs`. */
  ready(deadlineMs: number): Promise<void>;
  /**
   * Connects without a call, and calls the listener each time that a connection is established.
   *
   * @returns a function that ends it
   */
  onConnect(listener: () => void): () => void;
  /** Aborts running calls. */
  close(): void;
  /** @internal */
  readonly open: OpenChannel;
}

interface OpenChannel {
  readonly grpc: GrpcClient;
  readonly options: ChannelOptions;
}

/**
 * A client method: requests are messages or arguments of `create`, failures are {@link RpcError}.
 */
export type ClientMethod<Method extends DescMethod> = Method["methodKind"] extends "unary"
  ? (request: MessageInitShape<Method["input"]>, options?: CallOptions) => Promise<MessageShape<Method["output"]>>
  : Method["methodKind"] extends "server_streaming"
    ? (request: MessageInitShape<Method["input"]>, options?: CallOptions) => AsyncIterable<MessageShape<Method["output"]>>
    : Method["methodKind"] extends "client_streaming"
      ? (requests: AsyncIterable<MessageInitShape<Method["input"]>>, options?: CallOptions) => Promise<MessageShape<Method["output"]>>
      : (
          requests: AsyncIterable<MessageInitShape<Method["input"]>>,
          options?: CallOptions,
        ) => AsyncIterable<MessageShape<Method["output"]>>;

/** The methods of a service by their lowerCamelCase names. */
export type ServiceClient<Service extends DescService> = {
  readonly [Name in keyof Service["method"]]: ClientMethod<Service["method"][Name]>;
};

export function openChannel(options: ChannelOptions): Channel {
  const { target, secure } = parseEndpoint(options.endpoint);
  const { tls } = options;
  const channelCredentials =
    secure || tls !== undefined
      ? credentials.createSsl(tls?.roots ?? null, tls?.privateKey ?? null, tls?.certificate ?? null)
      : credentials.createInsecure();
  const grpc = new GrpcClient(target, channelCredentials, {
    "grpc.max_receive_message_length": options.maxMessageBytes ?? CLIENT_MAX_MESSAGE_BYTES,
    "grpc.max_send_message_length": options.maxSendBytes ?? -1,
    "grpc.max_metadata_size": 128 * 1024,
    "grpc.initial_reconnect_backoff_ms": 100,
    // Limits the reconnect delay: a client connects soon after its server starts or restarts.
    "grpc.max_reconnect_backoff_ms": 500,
    "grpc.keepalive_time_ms": 30_000,
    // The default of 30 s hides for as long that a host has new addresses.
    "grpc.dns_min_time_between_resolutions_ms": 1_000,
    "grpc.enable_channelz": 0,
    "grpc.use_local_subchannel_pool": 1,
    ...(options.roundRobin === true ? { "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }) } : {}),
    ...(tls?.serverName === undefined ? {} : { "grpc.ssl_target_name_override": tls.serverName }),
  });
  return {
    ready: (deadlineMs) =>
      new Promise((resolve, reject) => {
        grpc.waitForReady(Date.now() + deadlineMs, (error) => {
          if (error)
            reject(new RpcError(Code.UNAVAILABLE, `no connection to ${options.endpoint} within ${deadlineMs} ms`, { cause: error }));
          else resolve();
        });
      }),
    onConnect: (listener) => watchConnection(grpc, listener),
    close: () => grpc.close(),
    open: { grpc, options },
  };
}

/** A typed client of one service. */
export function createClient<Service extends DescService>({
  channel,
  service,
}: {
  readonly channel: Channel;
  readonly service: Service;
}): ServiceClient<Service> {
  return Object.fromEntries(service.methods.map((method) => [method.localName, methodOf(channel.open, method)])) as ServiceClient<Service>;
}

function parseEndpoint(endpoint: string): { target: string; secure: boolean } {
  const match = /^(?:(https?):\/\/)?([^/\s]+:\d+)\/?$/.exec(endpoint);
  if (!match?.[2]) throw new TypeError(`endpoint ${JSON.stringify(endpoint)} must be host:port, http://host:port or https://host:port`);
  return { target: match[2], secure: match[1] === "https" };
}

function methodOf(channel: OpenChannel, method: DescMethod): unknown {
  switch (method.methodKind) {
    case "unary":
      return (request: object, options: CallOptions = {}) => callUnary({ channel, method, options }, request);
    case "server_streaming":
      return (request: object, options: CallOptions = {}) => callServerStream({ channel, method, options }, request);
    case "client_streaming":
      return (requests: AsyncIterable<object>, options: CallOptions = {}) => callClientStream({ channel, method, options }, requests);
    case "bidi_streaming":
      return (requests: AsyncIterable<object>, options: CallOptions = {}) => callBidi({ channel, method, options }, requests);
  }
}

interface Call {
  readonly channel: OpenChannel;
  readonly method: DescMethod;
  readonly options: CallOptions;
}

interface Prepared {
  readonly path: string;
  readonly encode: (message: object) => Buffer;
  readonly decode: (bytes: Buffer) => Buffer;
  readonly metadata: Metadata;
  readonly grpcOptions: GrpcCallOptions;
}

async function prepare({ channel, method, options }: Call, once: boolean): Promise<Prepared> {
  options.signal?.throwIfAborted();
  const metadata = new Metadata();
  for (const [name, value] of Object.entries({ ...(await channel.options.metadata?.()), ...options.metadata })) metadata.set(name, value);
  // Detects an abort during the fetch of a token, which the call itself would not notice.
  options.signal?.throwIfAborted();
  const deadlineMs = options.deadlineMs ?? (once ? (channel.options.deadlineMs ?? DEFAULT_DEADLINE_MS) : undefined);
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    encode: (init) => {
      const bytes = toBinary(method.input, create(method.input, init as Message));
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },
    decode: (bytes) => bytes,
    metadata,
    grpcOptions: deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs },
  };
}

async function callUnary(call: Call, request: object): Promise<Message> {
  const { path, encode, decode, metadata, grpcOptions } = await prepare(call, true);
  const { signal } = call.options;
  const bytes = await new Promise<Buffer>((resolve, reject) => {
    const running = call.channel.grpc.makeUnaryRequest(path, encode, decode, request, metadata, grpcOptions, (error, response) => {
      signal?.removeEventListener("abort", cancel);
      if (error) reject(failureOf(call, error, running.getPeer()));
      else resolve(response as Buffer);
    });
    const cancel = (): void => running.cancel();
    signal?.addEventListener("abort", cancel, { once: true });
  });
  return decodeResponse(call.method.output, bytes);
}

async function* callServerStream(call: Call, request: object): AsyncGenerator<Message> {
  const { path, encode, decode, metadata, grpcOptions } = await prepare(call, false);
  yield* messagesOf(call, call.channel.grpc.makeServerStreamRequest(path, encode, decode, request, metadata, grpcOptions));
}

async function callClientStream(call: Call, requests: AsyncIterable<object>): Promise<Message> {
  const { path, encode, decode, metadata, grpcOptions } = await prepare(call, true);
  const { signal } = call.options;
  const bytes = await new Promise<Buffer>((resolve, reject) => {
    const stream = call.channel.grpc.makeClientStreamRequest(path, encode, decode, metadata, grpcOptions, (error, response) => {
      signal?.removeEventListener("abort", cancel);
      if (error) reject(failureOf(call, error, stream.getPeer()));
      else resolve(response as Buffer);
    });
    const cancel = (): void => stream.cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    sendAll(stream, requests).catch((error: unknown) => {
      stream.cancel();
      reject(error as Error);
    });
  });
  return decodeResponse(call.method.output, bytes);
}

async function* callBidi(call: Call, requests: AsyncIterable<object>): AsyncGenerator<Message> {
  const { path, encode, decode, metadata, grpcOptions } = await prepare(call, false);
  const stream = call.channel.grpc.makeBidiStreamRequest(path, encode, decode, metadata, grpcOptions);
  let failed: unknown;
  sendAll(stream, requests).catch((error: unknown) => {
    failed = error;
    stream.cancel();
  });
  try {
    yield* messagesOf(call, stream);
  } catch (error) {
    throw failed ?? error;
  }
}

interface Outgoing {
  write(message: object, done: () => void): boolean;
  end(): void;
  readonly destroyed: boolean;
  once(event: "close", listener: () => void): unknown;
  off(event: "close", listener: () => void): unknown;
}

async function sendAll(stream: Outgoing, requests: AsyncIterable<object>): Promise<void> {
  for await (const request of requests) {
    if (stream.destroyed) return;
    await new Promise<void>((resolve) => {
      stream.once("close", resolve);
      stream.write(request, () => {
        stream.off("close", resolve);
        resolve();
      });
    });
  }
  stream.end();
}

interface Incoming extends AsyncIterable<unknown> {
  cancel(): void;
  getPeer(): string;
}

async function* messagesOf(call: Call, stream: Incoming): AsyncGenerator<Message> {
  const { signal } = call.options;
  const cancel = (): void => stream.cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    for await (const bytes of stream) yield decodeResponse(call.method.output, bytes as Buffer);
  } catch (error) {
    throw error instanceof RpcError ? error : failureOf(call, error as ServiceError, stream.getPeer());
  } finally {
    signal?.removeEventListener("abort", cancel);
    cancel(); // A caller that leaves its loop cancels the call.
  }
}

function decodeResponse(schema: DescMessage, bytes: Buffer): Message {
  try {
    return fromBinary(schema, bytes);
  } catch (error) {
    throw new RpcError(Code.INTERNAL, `response is not a valid ${schema.typeName}`, { cause: error });
  }
}

/**
 * Converts the error of a call. The error's peer is the target of the channel while the call has no
 * connection, so that the server has not received the call.
 */
function failureOf({ channel }: Call, error: ServiceError, peer: string): RpcError {
  const details = error.metadata instanceof Metadata ? statusDetails(error.metadata) : undefined;
  const notSent = peer === channel.grpc.getChannel().getTarget();
  const failure = receivedError(error.code, error.details ?? error.message, { statusDetails: details, cause: error, notSent });
  if (failure.code === Code.UNAUTHENTICATED) channel.options.onUnauthenticated?.();
  return failure;
}
