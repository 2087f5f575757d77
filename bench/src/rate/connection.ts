import type { IncomingHttpHeaders } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";

/**
 * Size of the HTTP/2 window, bytes: larger than any response, so that flow control never delays the
 * server.
 */
const WINDOW_BYTES = 16 * 1024 * 1024;

/**
 * Minimal gRPC over one HTTP/2 connection: requests are bytes, responses are counted and not
 * decoded. Client and server share the machine, so a cheap client measures the server.
 */
export class Connection {
  readonly #session: ClientHttp2Session;
  readonly #authority: string;

  private constructor(session: ClientHttp2Session, authority: string) {
    this.#session = session;
    this.#authority = authority;
  }

  /** Rejects when the endpoint refuses the connection. */
  static open(endpoint: string): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const session = connect(`http://${endpoint}`, { settings: { enablePush: false, initialWindowSize: WINDOW_BYTES } });
      session.once("error", reject);
      session.once("connect", () => {
        session.off("error", reject);
        // Ignore errors of the session: each pending call fails when its own stream ends.
        session.on("error", () => undefined);
        session.setLocalWindowSize(WINDOW_BYTES);
        resolve(new Connection(session, endpoint));
      });
    });
  }

  /**
   * Sends a message framed by {@link framed}. Resolves to the size of the response with its frame,
   * bytes.
   *
   * @throws Error with the gRPC status when it is not OK
   */
  call(path: string, message: Buffer): Promise<number> {
    return new Promise((resolve, reject) => {
      const stream = this.#session.request({
        ":method": "POST",
        ":path": path,
        ":authority": this.#authority,
        "content-type": "application/grpc",
        te: "trailers",
      });
      let bytes = 0;
      let status: string | undefined;
      let text = "";
      const read = (headers: IncomingHttpHeaders) => {
        status = headers["grpc-status"]?.toString() ?? status;
        text = headers["grpc-message"]?.toString() ?? text;
      };
      stream.on("response", read);
      stream.on("trailers", read);
      stream.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      stream.on("error", reject);
      stream.on("close", () => {
        if (status === "0") resolve(bytes);
        else reject(new Error(`${path}: status ${String(status)} ${decodeURIComponent(text)}`));
      });
      stream.end(message);
    });
  }

  close(): void {
    this.#session.destroy();
  }
}

/** Frames a message for gRPC: uncompressed, with its length. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(5 + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, 5);
  return frame;
}
