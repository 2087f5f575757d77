import { request as httpRequest } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import { codeName, type Code } from "@flyte-ts/client";

/** A raw request: the client sends these bytes without checking them. */
export interface RawCall {
  /** `/package.Service/Method`. */
  readonly path: string;
  readonly body?: Uint8Array;
  /** Name of the compression that the message claims. */
  readonly encoding?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: string | Uint8Array | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RawResponse {
  /** 0 when the connection ended without a response. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A client of one port that sends requests which a conforming client never sends. */
export interface Attacker {
  /**
   * Resolves to the name of the gRPC status, or `CLOSED` when the connection or stream ended
   * without one.
   */
  grpc(call: RawCall): Promise<string>;
  http(request: RawRequest): Promise<RawResponse>;
  close(): void;
}

const TIMEOUT_MS = 30_000;

export function openAttacker(port: number, address = "127.0.0.1"): Attacker {
  let session: ClientHttp2Session | undefined;
  const connected = (): ClientHttp2Session => {
    if (session === undefined || session.closed || session.destroyed) {
      session = connect(`http://${address}:${port}`, { maxSessionMemory: 1_000 });
      // `maxSessionMemory` (MB) bounds the requests that this process buffers when the server
      // refuses them before they are sent. Session errors are ignored, because the streams of a
      // refused connection report them.
      session.on("error", () => undefined);
    }
    return session;
  };
  return {
    grpc: (call) => grpcStatus(connected(), call),
    http: (request) => rawHttp({ address, port }, request),
    close: () => session?.destroy(),
  };
}

function grpcStatus(session: ClientHttp2Session, { path, body = new Uint8Array(), encoding, headers = {} }: RawCall): Promise<string> {
  return new Promise((resolve) => {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...(encoding !== undefined && { "grpc-encoding": encoding }),
      ...headers,
    });
    let status: string | undefined;
    const read = (seen: Record<string, unknown>) => {
      const found = seen["grpc-status"];
      if (typeof found === "string") status = codeName(Number(found) as Code);
    };
    stream.on("response", read);
    stream.on("trailers", read);
    stream.on("error", () => undefined);
    stream.setTimeout(TIMEOUT_MS, () => stream.close());
    stream.once("close", () => resolve(status ?? "CLOSED"));
    stream.resume();
    const head = Buffer.alloc(5);
    head.writeUInt8(encoding === undefined ? 0 : 1);
    head.writeUInt32BE(body.length, 1);
    stream.end(Buffer.concat([head, body]));
  });
}

function rawHttp(
  { address, port }: { readonly address: string; readonly port: number },
  { method, path, body, headers = {} }: RawRequest,
): Promise<RawResponse> {
  return new Promise((resolve) => {
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const lost = (text: string) => resolve({ status: 0, headers: {}, text });
    const request = httpRequest({ host: address, port, method, path, headers: { ...length, ...headers }, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.once("error", (error) => lost(error.message));
      response.once("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(parts).toString() }),
      );
    });
    request.setTimeout(TIMEOUT_MS, () => request.destroy(new Error("no answer in time")));
    request.once("error", (error) => lost(error.message));
    request.end(body);
  });
}
