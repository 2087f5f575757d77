import type { DescMessage, DescMethod, DescService, Message, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { EncodedMessage } from "./encoded-message.js";

/** Transport of a call. */
export type Transport = "grpc" | "rest";

/** Identity of the caller, where authentication is enabled. */
export interface Caller {
  /** The `sub` of the token; for a service without one its client id. */
  readonly subject: string;
  /** Issuer of the token, as in `iss`. */
  readonly issuer: string;
  readonly groups: readonly string[];
  /** Other claims of the verified token; never its text. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** Projects of which the caller may see anything; undefined: all. */
  readonly projects: readonly string[] | undefined;
}

/** Context of a call besides the request. */
export interface CallContext {
  /** X-Request-ID of the caller, or a generated one (`a-` and 20 characters). For logs only. */
  readonly requestId: string;
  readonly method: DescMethod;
  /**
   * Metadata of a gRPC call, headers of a REST call. Names are case-insensitive; a repeated one
   * gives its first value.
   */
  readonly metadata: { get(name: string): string | undefined };
  /**
   * Aborted when the client disconnects, its deadline has passed, or the server abandons the call.
   */
  readonly signal: AbortSignal;
  /** Remote address of the connection, `host:port`. */
  readonly peer: string;
  readonly transport: Transport;
  /** Undefined without authentication, and in open calls. */
  readonly caller?: Caller | undefined;
}

type Response<Desc extends DescMessage> = MessageShape<Desc> | MessageInitShape<Desc>;

/**
 * Implementation of one method. A response may be a message or arguments of `create`; those of
 * unary and server-streaming methods may also be encoded already.
 */
export type MethodImplementation<Method extends DescMethod> = Method["methodKind"] extends "unary"
  ? (
      request: MessageShape<Method["input"]>,
      context: CallContext,
    ) =>
      | Promise<Response<Method["output"]> | EncodedMessage<Method["output"]>>
      | Response<Method["output"]>
      | EncodedMessage<Method["output"]>
  : Method["methodKind"] extends "server_streaming"
    ? (
        request: MessageShape<Method["input"]>,
        context: CallContext,
      ) => AsyncIterable<Response<Method["output"]> | EncodedMessage<Method["output"]>>
    : Method["methodKind"] extends "client_streaming"
      ? (requests: AsyncIterable<MessageShape<Method["input"]>>, context: CallContext) => Promise<Response<Method["output"]>>
      : (requests: AsyncIterable<MessageShape<Method["input"]>>, context: CallContext) => AsyncIterable<Response<Method["output"]>>;

/** Methods of a service by their lowerCamelCase names. A missing method answers UNIMPLEMENTED. */
export type ServiceImplementation<Service extends DescService> = {
  readonly [Name in keyof Service["method"]]?: MethodImplementation<Service["method"][Name]>;
};

/** An untyped method: the server pairs it with its descriptor again. */
export type AnyMethod = (request: unknown, context: CallContext) => unknown;

/** A service that a server offers; created by {@link implement} or {@link unimplementedService}. */
export interface ServedService {
  readonly service: DescService;
  /** Undefined when only its REST routes are known: they answer UNIMPLEMENTED `unknown service`. */
  readonly implementation: ReadonlyMap<string, AnyMethod> | undefined;
  /** Replaces the default decoding of gRPC requests. */
  readonly decoders?: RequestDecoders | undefined;
  /** Additional headers of REST answers of its unary methods, from the answer. */
  readonly responseHeaders?: ResponseHeaders | undefined;
  /** Tags of REST answers that never change; absent: no answer has one. */
  readonly entityTag?: EntityTag | undefined;
  /**
   * Methods by their lowerCamelCase names whose answers contain secrets, such as tokens and signed
   * URLs. REST answers of other methods are compressed.
   */
  readonly secretAnswers?: readonly string[] | undefined;
}

/**
 * Identifies an answer that is the same for ever, by letters, digits, `-` and `_`. Undefined: this
 * answer may change. The tag changes with the version of the program, which may write the answer
 * differently.
 */
export type EntityTag = (method: DescMethod, answer: Message) => string | undefined;

export type ResponseHeaders = (method: DescMethod, answer: Message) => Readonly<Record<string, string>>;

/**
 * Methods by their lowerCamelCase names whose gRPC requests the service decodes itself, for example
 * in part. Their errors are the caller's.
 */
export type RequestDecoders<Service extends DescService = DescService> = {
  readonly [Name in keyof Service["method"]]?: (bytes: Uint8Array) => MessageShape<Service["method"][Name]["input"]>;
};

/** Pairs a service with its implementation. */
export function implement<Service extends DescService>(
  service: Service,
  implementation: ServiceImplementation<Service>,
  decoders?: RequestDecoders<Service>,
): ServedService {
  const methods = new Map<string, AnyMethod>();
  for (const method of service.methods) {
    const entry = (implementation as Record<string, unknown>)[method.localName];
    if (typeof entry === "function") methods.set(method.localName, entry.bind(implementation) as AnyMethod);
  }
  return { service, implementation: methods, decoders };
}

/**
 * A service with REST routes but without an implementation: without auth, Flyte answers so for
 * `/me`.
 */
export function unimplementedService(service: DescService): ServedService {
  return { service, implementation: undefined };
}

/**
 * Wraps every unary call and every stream, for telemetry and auth. It may throw an
 * {@link import("./rpc-error.js").RpcError}, or pass on a changed context. For a stream, `next`
 * ends when the last message has been sent.
 */
export type Interceptor = (call: InterceptedCall, next: (context: CallContext) => Promise<unknown>) => Promise<unknown>;

export interface InterceptedCall {
  readonly context: CallContext;
  /** The decoded request; undefined where the client streams. */
  readonly request: unknown;
}
