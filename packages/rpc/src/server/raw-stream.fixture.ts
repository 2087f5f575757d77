import { connect, type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from "node:http2";

/** End of a gRPC stream, and the number of bytes that its client could still send. */
export interface StreamEnd {
  readonly code: number;
  readonly message: string;
}

/** An HTTP/2 connection for frames that no gRPC library would send. */
export function openSession(port: number): ClientHttp2Session {
  // Node counts the unsent rest of a refused request as memory of the session (MB), and drops the
  // answer beyond this bound.
  const session = connect(`http://127.0.0.1:${port}`, { maxSessionMemory: 200 });
  session.on("error", () => undefined);
  return session;
}

/** Opens a stream to a method and sends only its headers. */
export function openStream(session: ClientHttp2Session, path: string, headers: Record<string, string> = {}): ClientHttp2Stream {
  const stream = session.request(
    { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers", ...headers },
    { endStream: false },
  );
  stream.on("error", () => undefined);
  return stream;
}

/** Waits for the status of a call, in its trailers or in its only headers. */
export function streamEnd(stream: ClientHttp2Stream): Promise<StreamEnd> {
  return new Promise((resolve, reject) => {
    const look = (headers: IncomingHttpHeaders): void => {
      const code = headers["grpc-status"];
      if (code !== undefined) resolve({ code: Number(code), message: decodeURIComponent(String(headers["grpc-message"] ?? "")) });
    };
    stream.on("response", look);
    stream.on("trailers", look);
    stream.on("data", () => undefined);
    stream.on("close", () => reject(new Error("the stream closed without a status")));
  });
}

/** Frames one message for gRPC, after its length. */
export function frame(message: Uint8Array, compressed = false): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(compressed ? 1 : 0, 0);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
