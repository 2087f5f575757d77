import type { DescMessage, DescMethod, DescService, Message, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { Encoded } from "./encoded.js";

/** Where a call came in. */
export type Transport = "grpc" | "rest";

/** Who makes a call, where callers are asked who they are. */
export interface Caller {
  /** The `sub` of the token; of a service without one its client id. */
  readonly subject: string;
  /** Who says so, as in `iss`. */
  readonly issuer: string;
  readonly groups: readonly string[];
  /** What the token says besides. It has been checked; its text never is in here. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** Projects of which the caller may see something; undefined: all. */
  readonly projects: readonly string[] | undefined;
}

/** What a handler knows about its call besides the request. */
export interface CallContext {
  /** X-Request-ID of the caller, or one made here (`a-` and 20 characters). For logs only. */
  readonly requestId: string;
  readonly method: DescMethod;
  /** Metadata of a gRPC call, headers of a REST call. Names are case-insensitive; a repeated one gives its first value. */
  readonly metadata: { get(name: string): string | undefined };
  /** Aborted when the client is gone, its deadline has passed, or the server stops waiting for the call. */
  readonly signal: AbortSignal;
  /** Address of the other side of the connection, `host:port`. */
  readonly peer: string;
  readonly transport: Transport;
  /** Undefined where nobody is asked, and in calls that anyone may make. */
  readonly caller?: Caller | undefined;
}

type Response<Desc extends DescMessage> = MessageShape<Desc> | MessageInitShape<Desc>;

/**
 * The function behind one method. A response may be a message or what `create` takes to make one; those of unary
 * and server-streaming methods may also be encoded already.
 */
export type MethodImplementation<Method extends DescMethod> = Method["methodKind"] extends "unary"
  ? (
      request: MessageShape<Method["input"]>,
      context: CallContext,
    ) => Promise<Response<Method["output"]> | Encoded<Method["output"]>> | Response<Method["output"]> | Encoded<Method["output"]>
  : Method["methodKind"] extends "server_streaming"
    ? (
        request: MessageShape<Method["input"]>,
        context: CallContext,
      ) => AsyncIterable<Response<Method["output"]> | Encoded<Method["output"]>>
    : Method["methodKind"] extends "client_streaming"
      ? (requests: AsyncIterable<MessageShape<Method["input"]>>, context: CallContext) => Promise<Response<Method["output"]>>
      : (requests: AsyncIterable<MessageShape<Method["input"]>>, context: CallContext) => AsyncIterable<Response<Method["output"]>>;

/** Methods of a service by their lowerCamelCase names. A method left out answers UNIMPLEMENTED. */
export type ServiceImplementation<Service extends DescService> = {
  readonly [Name in keyof Service["method"]]?: MethodImplementation<Service["method"][Name]>;
};

/** A method with its types set aside: the server pairs it with its descriptor again. */
export type AnyMethod = (request: unknown, context: CallContext) => unknown;

/** A service that a server offers; made by {@link implement} or {@link withoutImplementation}. */
export interface ServedService {
  readonly service: DescService;
  /** Undefined when only its REST routes are known: they answer UNIMPLEMENTED `unknown service`. */
  readonly implementation: ReadonlyMap<string, AnyMethod> | undefined;
  /** In place of the usual decoding of gRPC requests. */
  readonly decoders?: RequestDecoders | undefined;
  /** Headers that REST answers of its unary methods carry besides, from the answer. */
  readonly answerHeaders?: AnswerHeaders | undefined;
}

export type AnswerHeaders = (method: DescMethod, answer: Message) => Readonly<Record<string, string>>;

/** Methods by their lowerCamelCase names, whose gRPC requests their service decodes itself: in part, say. What they throw is the caller's fault. */
export type RequestDecoders<Service extends DescService = DescService> = {
  readonly [Name in keyof Service["method"]]?: (bytes: Uint8Array) => MessageShape<Service["method"][Name]["input"]>;
};

/** Pairs a service with the functions that carry it out. */
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

/** A service whose REST routes exist but which is not offered: without auth, Flyte answers so for `/me`. */
export function withoutImplementation(service: DescService): ServedService {
  return { service, implementation: undefined };
}

/**
 * Runs around every unary call and every stream, for telemetry and auth. It may
 * throw an {@link import("./rpc-error.js").RpcError}, or pass a changed context
 * on. For a stream, `next` ends when the last message has been handed over.
 */
export type Interceptor = (call: InterceptedCall, next: (context: CallContext) => Promise<unknown>) => Promise<unknown>;

export interface InterceptedCall {
  readonly context: CallContext;
  /** The decoded request; undefined where the client streams. */
  readonly request: unknown;
}
