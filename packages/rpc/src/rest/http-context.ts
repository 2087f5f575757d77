import type { DescMethod } from "@bufbuild/protobuf";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Code } from "../code.js";
import { requestIdOf } from "../request-id.js";
import { RpcError } from "../rpc-error.js";
import type { CallContext } from "../service.js";

const timeoutUnits: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };
/** Maximum of a timer: 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

/** Aborted when the client disconnects before the response is complete. */
export function closedSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}

/**
 * Parses the client's timeout, whole milliseconds, from a Grpc-Timeout header such as `15S`;
 * undefined without one.
 */
export function timeoutMs(request: IncomingMessage): number | undefined {
  const value = request.headers["grpc-timeout"];
  if (value === undefined) return undefined;
  const match = /^([0-9]{1,8})([HMSmun])$/.exec(String(value));
  if (!match?.[2]) throw new RpcError(Code.INVALID_ARGUMENT, "header grpc-timeout must be a whole number and one of H M S m u n");
  return Math.min(Math.ceil(Number(match[1]) * (timeoutUnits[match[2]] ?? 0)), LONGEST_MS);
}

export interface RestContextOptions {
  readonly method: DescMethod;
  readonly request: IncomingMessage;
  readonly signal: AbortSignal;
}

/**
 * Headers that browsers, proxies and the connection itself set, and those that identify callers.
 * `Grpc-Metadata-X` never replaces them: a page may not set them, and a proxy that checks them does
 * not know the other name.
 */
const RESERVED =
  /^(?:host|origin|referer|cookie2?|authorization|proxy-.*|sec-.*|forwarded|via|x-forwarded-.*|x-real-ip|access-control-.*|content-.*|transfer-encoding|te|trailer|connection|keep-alive|upgrade|expect|accept|accept-encoding|x-http-method-override|last-event-id)$/;

/**
 * Returns a header of a REST call: the one of this name, else `Grpc-Metadata-NAME`, unless the name
 * is reserved.
 */
export function headerOf(request: IncomingMessage, name: string): string | undefined {
  const key = name.toLowerCase();
  const own = request.headersDistinct[key]?.[0];
  return own !== undefined || RESERVED.test(key) ? own : request.headersDistinct[`grpc-metadata-${key}`]?.[0];
}

/** Creates the context of a call over HTTP. */
export function restContext({ method, request, signal }: RestContextOptions): CallContext {
  const get = (name: string): string | undefined => headerOf(request, name);
  const { remoteAddress, remotePort } = request.socket;
  return {
    requestId: requestIdOf(get("x-request-id")),
    method,
    metadata: { get },
    signal,
    peer: `${remoteAddress ?? ""}:${remotePort ?? 0}`,
    transport: "rest",
  };
}
