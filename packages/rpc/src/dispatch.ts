import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import type { Logger } from "@flyte-ts/telemetry";
import type { CallGuard } from "./call-guard.js";
import { Code, codeName } from "./code.js";
import { EncodedMessage } from "./encoded-message.js";
import { isUnexpected, RpcError, toRpcError } from "./rpc-error.js";
import type { AnyMethod, CallContext, Interceptor, ServedService } from "./service.js";

export interface DispatchOptions {
  readonly logger: Logger;
  readonly interceptors: readonly Interceptor[];
  readonly guard?: CallGuard | undefined;
}

/** Runs a method's function within the interceptors. Rejects with RpcErrors only. */
export interface Dispatch {
  /**
   * For methods with one answer; `request` is a message, or an iterable where the client streams.
   */
  unary(request: unknown, context: CallContext): Promise<Message | EncodedMessage>;
  /** For methods with a stream of answers. */
  stream(request: unknown, context: CallContext, emit: Emit): Promise<void>;
  /**
   * Rejects with an error found before the request was decoded, passed through the interceptors,
   * which count and log it. The guard is not called.
   */
  refuse(error: RpcError, context: CallContext): Promise<never>;
}

/**
 * Sends one message of a stream; resolves when the next may be sent. `signal` is the signal of the
 * call, as the interceptors changed it.
 */
export type Emit = (message: Message | EncodedMessage, signal: AbortSignal) => Promise<void>;

export function createDispatch(served: ServedService, method: DescMethod, { logger, interceptors, guard }: DispatchOptions): Dispatch {
  const run = implementationOf(served, method);
  const guarded = guard === undefined ? interceptors : [...interceptors, guard.interceptor];
  type Last = (context: CallContext) => Promise<unknown>;
  const around = async (request: unknown, context: CallContext, last: Last, chain = guarded): Promise<unknown> => {
    const call = (index: number, current: CallContext): Promise<unknown> => {
      const interceptor = chain[index];
      return interceptor === undefined
        ? last(current)
        : interceptor({ context: current, request: streamsIn(method) ? undefined : request }, (changed) => call(index + 1, changed));
    };
    try {
      return await call(0, context);
    } catch (thrown) {
      throw report(thrown, { logger, context });
    }
  };
  return {
    async refuse(error, context) {
      await around(undefined, context, () => Promise.reject(error), interceptors);
      throw error;
    },
    async unary(request, context) {
      return (await around(request, context, async (current) => {
        const response = await run(request, current);
        return response instanceof EncodedMessage ? response : create(method.output, response as Message);
      })) as Message | EncodedMessage;
    },
    async stream(request, context, emit) {
      await around(request, context, async (current) => {
        const { signal } = current;
        for await (const message of run(request, current) as AsyncIterable<Message | EncodedMessage>) {
          await emit(message instanceof EncodedMessage ? message : create(method.output, message), signal);
        }
      });
    },
  };
}

export function streamsIn(method: DescMethod): boolean {
  return method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming";
}

export function streamsOut(method: DescMethod): boolean {
  return method.methodKind === "server_streaming" || method.methodKind === "bidi_streaming";
}

function implementationOf(served: ServedService, method: DescMethod): AnyMethod {
  const found = served.implementation?.get(method.localName);
  if (found) return found;
  const message = served.implementation ? `method ${method.name} not implemented` : `unknown service ${served.service.typeName}`;
  return () => {
    throw new RpcError(Code.UNIMPLEMENTED, message);
  };
}

/** Logs an undeclared failure of a handler with its stack: the caller sees a constant text only. */
function report(thrown: unknown, { logger, context }: { logger: Logger; context: CallContext }): RpcError {
  // An error after the caller's disconnect follows from it and is not logged; no answer is sent.
  if (!(thrown instanceof RpcError) && context.signal.aborted)
    return new RpcError(Code.CANCELLED, "the caller has disconnected", { cause: thrown });
  const error = toRpcError(thrown);
  if (isUnexpected(error)) {
    const { requestId, method, peer, transport } = context;
    const fields = { requestId, method: `${method.parent.typeName}/${method.name}`, peer, transport, code: codeName(error.code) };
    logger.error({ ...fields, err: error.cause ?? error }, "call failed");
  }
  return error;
}
