import type { IncomingHttpHeaders } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";

/** Larger than any answer, so that the client's window never holds the server up. */
const WINDOW_BYTES = 16 * 1024 * 1024;

/**
 * gRPC over one HTTP/2 connection with as little work as can be: requests are bytes, answers are counted and not
 * decoded. Client and server share the machine, so what the client saves is not taken from what is measured.
 */
export class Connection {
  readonly #session: ClientHttp2Session;
  readonly #authority: string;

  private constructor(session: ClientHttp2Session, authority: string) {
    this.#session = session;
    this.#authority = authority;
  }

  /** Rejects when nobody listens there. */
  static open(endpoint: string): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const session = connect(`http://${endpoint}`, { settings: { enablePush: false, initialWindowSize: WINDOW_BYTES } });
      session.once("error", reject);
      session.once("connect", () => {
        session.off("error", reject);
        // Calls on their way fail by their own streams' ends.
        session.on("error", () => undefined);
        session.setLocalWindowSize(WINDOW_BYTES);
        resolve(new Connection(session, endpoint));
      });
    });
  }

  /**
   * Sends a message that {@link framed} has made and resolves to the bytes of its answer, its frame included.
   *
   * @throws Error with the gRPC status when it is not OK.
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

/** A message as gRPC sends it: not compressed, its length before it. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(5 + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, 5);
  return frame;
}
