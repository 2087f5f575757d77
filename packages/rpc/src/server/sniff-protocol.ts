import type { Socket } from "node:net";

/** The first bytes of every HTTP/2 connection without TLS (RFC 9113, 3.4). */
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

export type Protocol = "http1" | "http2";

/** Time after which a silent connection is closed. */
const FIRST_BYTES_TIMEOUT_MS = 30_000;

/**
 * Detects the protocol by the first bytes of a connection and puts the bytes back. Does not call
 * `decided` for a connection that sends nothing.
 */
export function sniff(socket: Socket, decided: (protocol: Protocol) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  const timer = setTimeout(() => socket.destroy(), FIRST_BYTES_TIMEOUT_MS);
  timer.unref();
  const ended = (): void => clearTimeout(timer);
  const readable = (): void => {
    let chunk: Buffer | null;
    while ((chunk = socket.read() as Buffer | null) !== null) {
      chunks.push(chunk);
      length += chunk.length;
    }
    if (length === 0) return;
    const start = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length);
    const compared = Math.min(length, PREFACE.length);
    const same = start.subarray(0, compared).equals(PREFACE.subarray(0, compared));
    if (same && length < PREFACE.length) return;
    clearTimeout(timer);
    socket.off("readable", readable);
    socket.off("close", ended);
    socket.unshift(start);
    decided(same ? "http2" : "http1");
  };
  socket.on("readable", readable);
  socket.once("close", ended);
}
