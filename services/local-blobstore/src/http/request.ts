import type { IncomingMessage } from "node:http";
import { S3Error } from "./s3-error.js";

/** A parsed S3 request. */
export interface S3Request {
  readonly method: string;
  /** Empty for requests to the service itself. */
  readonly bucket: string;
  /** Empty for requests to a bucket. */
  readonly key: string;
  /** Decoded path with its leading slash. */
  readonly path: string;
  /** Decoded parameters in their original order. */
  readonly query: readonly (readonly [name: string, value: string])[];
  /** Headers by lower-case name; repeated headers are joined with commas. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: IncomingMessage;
  /** Sends `100 Continue` to a client that waits for it; call it before reading the body. */
  readonly sendContinue: () => void;
}

/** @throws S3Error InvalidURI when the path is not valid percent-encoded UTF-8. */
export function readRequest(message: IncomingMessage, sendContinue: () => void): S3Request {
  const url = message.url ?? "/";
  const mark = url.indexOf("?");
  const path = decode(mark < 0 ? url : url.slice(0, mark));
  const slash = path.indexOf("/", 1);
  return {
    method: message.method ?? "GET",
    bucket: slash < 0 ? path.slice(1) : path.slice(1, slash),
    key: slash < 0 ? "" : path.slice(slash + 1),
    path,
    query: mark < 0 ? [] : parseQuery(url.slice(mark + 1)),
    headers: joinHeaders(message.rawHeaders),
    body: message,
    sendContinue,
  };
}

/** Value of a parameter: undefined when it is absent, empty when it has no value. */
export function parameter(request: S3Request, name: string): string | undefined {
  return request.query.find(([each]) => each === name)?.[1];
}

function parseQuery(text: string): [string, string][] {
  return text
    .split("&")
    .filter((part) => part !== "")
    .map((part) => {
      const equals = part.indexOf("=");
      return equals < 0 ? [decode(part), ""] : [decode(part.slice(0, equals)), decode(part.slice(equals + 1))];
    });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new S3Error("InvalidURI");
  }
}

function joinHeaders(raw: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] ?? "").toLowerCase();
    const value = raw[i + 1] ?? "";
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before},${value}`);
  }
  return headers;
}
