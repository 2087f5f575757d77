import { request as httpRequest } from "node:http";
import { connect } from "node:http2";

/** Outcome of a request as a gRPC code, for both protocols. */
export interface RawResponse {
  readonly code: number;
  readonly message: string;
}

/** Sends raw bytes that a conforming client never sends. */
export interface RawClient {
  /**
   * Makes a unary gRPC call with these bytes as its message, declared as compressed with
   * `encoding`.
   */
  grpc(path: string, message: Uint8Array, encoding?: "gzip" | "deflate"): Promise<RawResponse>;
  /** Makes an HTTP/1.1 request; without a code in the body its status determines the outcome. */
  rest(request: { readonly method: string; readonly path: string; readonly body?: string | Uint8Array }): Promise<RawResponse>;
  close(): void;
}

const TIMEOUT_MS = 30_000;

export function openRawClient(port: number): RawClient {
  const session = connect(`http://127.0.0.1:${port}`);
  return {
    grpc: (path, message, encoding) =>
      new Promise((resolve, reject) => {
        const compressed = encoding === undefined ? {} : { "grpc-encoding": encoding };
        const stream = session.request({
          ":method": "POST",
          ":path": path,
          "content-type": "application/grpc",
          te: "trailers",
          ...compressed,
        });
        let seen: Record<string, string | undefined> = {};
        const keep = (headers: object) => {
          seen = { ...seen, ...headers };
        };
        stream.on("response", keep);
        stream.on("trailers", keep);
        stream.setTimeout(TIMEOUT_MS, () => stream.destroy(new Error(`${path} was not answered`)));
        stream.once("error", reject);
        stream.once("close", () => {
          const code = seen["grpc-status"];
          if (code === undefined) reject(new Error(`${path} ended without a status`));
          else resolve({ code: Number(code), message: decodeURIComponent(seen["grpc-message"] ?? "") });
        });
        stream.resume();
        const head = Buffer.alloc(5);
        head.writeUInt8(encoding === undefined ? 0 : 1);
        head.writeUInt32BE(message.length, 1);
        stream.end(Buffer.concat([head, message]));
      }),
    rest: ({ method, path, body }) =>
      new Promise((resolve, reject) => {
        const headers = {
          "content-type": "application/json",
          ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
        };
        const request = httpRequest({ host: "127.0.0.1", port, method, path, headers }, (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => {
            text += chunk;
          });
          response.once("error", reject);
          response.once("end", () => resolve(restResponse(response.statusCode ?? 0, text)));
        });
        request.setTimeout(TIMEOUT_MS, () => request.destroy(new Error(`${method} ${path} was not answered`)));
        request.once("error", reject);
        request.end(body);
      }),
    close: () => session.close(),
  };
}

function restResponse(status: number, text: string): RawResponse {
  if (status < 400) return { code: 0, message: "" };
  try {
    const { code, message } = JSON.parse(text) as { code?: unknown; message?: unknown };
    if (typeof code === "number") return { code, message: String(message) };
  } catch {
    // Not an error of an RPC.
  }
  return { code: status < 500 ? 3 : 13, message: `${status} ${text}` };
}
