import type { IncomingMessage } from "node:http";
import { ApiError } from "../api-error.js";

/** Reads the whole body. @throws ApiError RequestEntityTooLarge */
export async function readBody(request: IncomingMessage, limit: number): Promise<{ data: Buffer; text: string; bytes: number }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limit) throw new ApiError("RequestEntityTooLarge", `Request entity too large: limit is ${limit}`);
    chunks.push(chunk);
  }
  const whole = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  return { data: whole, text: whole.toString("utf8"), bytes };
}
