import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * A proxy between a client and a gRPC server that closes the connection when a response begins: the
 * server has performed the call.
 */
export interface ResponseDropProxy {
  readonly port: number;
  /** Drops the n-th response from now on, and everything else on its connection. */
  dropNth(nth: number): void;
  /** Number of dropped responses. */
  readonly dropCount: () => number;
  stop(): Promise<void>;
}

const FRAME_HEADER_BYTES = 9;
const HEADERS = 1;

export async function startResponseDropProxy(target: number): Promise<ResponseDropProxy> {
  const sockets = new Set<Socket>();
  let remaining = 0;
  let dropCount = 0;
  const listener = createServer((client) => {
    const server = connect(target, "127.0.0.1");
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on("data", (chunk: Buffer) => server.write(chunk));
    const begins = responseDetector();
    server.on("data", (chunk: Buffer) => {
      if (begins(chunk) && remaining > 0 && --remaining === 0) {
        dropCount += 1;
        client.destroy();
      } else client.write(chunk);
    });
  });
  await new Promise<void>((done) => listener.listen(0, "127.0.0.1", done));
  return {
    port: (listener.address() as AddressInfo).port,
    dropNth: (nth) => {
      remaining = nth;
    },
    dropCount: () => dropCount,
    stop: () =>
      new Promise((done) => {
        listener.close(() => done());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/**
 * Parses the frames of one connection (RFC 9113, 4.1) and reports whether a chunk begins a
 * response: the first HEADERS frame of a stream.
 */
function responseDetector(): (chunk: Buffer) => boolean {
  const begun = new Set<number>();
  let header = Buffer.alloc(0);
  let skip = 0;
  return (chunk) => {
    let found = false;
    for (let at = 0; at < chunk.length; ) {
      const skipped = Math.min(skip, chunk.length - at);
      skip -= skipped;
      at += skipped;
      const wanted = chunk.subarray(at, at + FRAME_HEADER_BYTES - header.length);
      header = Buffer.concat([header, wanted]);
      at += wanted.length;
      if (header.length < FRAME_HEADER_BYTES) break;
      const stream = header.readUInt32BE(5) & 0x7fffffff;
      if (header[3] === HEADERS && !begun.has(stream)) {
        begun.add(stream);
        found = true;
      }
      skip = header.readUIntBE(0, 3);
      header = Buffer.alloc(0);
    }
    return found;
  };
}
