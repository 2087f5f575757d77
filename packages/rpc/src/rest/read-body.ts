import type { IncomingMessage } from "node:http";
import { Code } from "../code.js";
import { RequestTooLarge } from "../intake/intake.js";
import { RpcError } from "../rpc-error.js";

/**
 * Reads the whole body. `received` gets the number of bytes held so far, and may throw to refuse
 * the rest.
 *
 * @throws RpcError RESOURCE_EXHAUSTED as soon as the body is longer than the limit, CANCELLED when
 *   it breaks off.
 */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  received: (bytes: number) => void = () => undefined,
): Promise<Uint8Array> {
  const check = (bytes: number): void => {
    received(bytes);
    if (bytes > maxBytes) throw new RequestTooLarge(`request body is larger than ${maxBytes} bytes`);
  };
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > maxBytes) check(announced);
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    const settle = (done: () => void): void => {
      request.off("data", data).off("end", end).off("error", broken).off("close", broken);
      done();
    };
    const data = (chunk: Buffer): void => {
      length += chunk.length;
      chunks.push(chunk);
      try {
        check(length);
      } catch (error) {
        request.pause();
        settle(() => reject(error as Error));
      }
    };
    const end = (): void => settle(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length)));
    const broken = (): void => settle(() => reject(new RpcError(Code.CANCELLED, "the connection closed before the end of the request")));
    request.on("data", data).on("end", end).on("error", broken).on("close", broken);
  });
}
