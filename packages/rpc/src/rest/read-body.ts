import type { IncomingMessage } from "node:http";
import { Code } from "../code.js";
import { RpcError } from "../rpc-error.js";

/** The whole body; RESOURCE_EXHAUSTED as soon as it is longer than the limit, CANCELLED when it breaks off. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = (): RpcError => new RpcError(Code.RESOURCE_EXHAUSTED, `request body is larger than ${maxBytes} bytes`);
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw tooLarge();
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
      if (length > maxBytes) {
        request.pause();
        settle(() => reject(tooLarge()));
      }
    };
    const end = (): void => settle(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length)));
    const broken = (): void => settle(() => reject(new RpcError(Code.CANCELLED, "the request broke off")));
    request.on("data", data).on("end", end).on("error", broken).on("close", broken);
  });
}
