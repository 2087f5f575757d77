import type { IncomingMessage, ServerResponse } from "node:http";
import { MemoryBudget, memoryShare, Reservation, scanJson, violationText } from "@flyte-ts/input-limits";
import { ApiError, badRequest } from "../api-error.js";
import { PROTOBUF_MEDIA_TYPE } from "./protobuf-body.js";

/** Memory per byte of a body while its request is handled: as text, objects and stored record. */
const MEMORY_PER_BYTE = 8;
/**
 * Maximum nesting of an object: recursive functions process it, and the stack of Node.js holds a
 * few thousand levels.
 */
export const MAX_DEPTH = 500;
/** Maximum number of values in a JSON body; the largest stored object has fewer. */
const MAX_ELEMENTS = 400_000;
/** Media types with limits in their own parsers. */
const OTHER_MEDIA_TYPES: readonly (string | undefined)[] = ["application/yaml", "application/apply-patch+yaml", PROTOBUF_MEDIA_TYPE];

export interface Body {
  readonly data: Buffer;
  readonly text: string;
  readonly bytes: number;
}

/**
 * Reads bodies of limited size; all concurrent ones together may use half of the process's memory.
 */
export class BodyReader {
  readonly #limit: number;
  readonly #budget: MemoryBudget;

  constructor(limit: number, budget = new MemoryBudget(memoryShare(0.5))) {
    this.#limit = limit;
    this.#budget = budget;
  }

  /**
   * Reads a complete body; its memory stays reserved until the response closes.
   *
   * @throws ApiError RequestEntityTooLarge, TooManyRequests, or BadRequest when JSON has too many
   *   values or is nested
   * too deeply
   */
  async read(request: IncomingMessage, response: ServerResponse): Promise<Body> {
    const limit = this.#limit;
    const reservation = new Reservation(this.#budget);
    response.once("close", () => reservation.release());
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > limit) throw new ApiError("RequestEntityTooLarge", `Request entity too large: limit is ${limit}`);
      if (!reservation.growTo(bytes * MEMORY_PER_BYTE)) throw busy(this.#budget);
      chunks.push(chunk);
    }
    const data = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
    if (!OTHER_MEDIA_TYPES.includes(mediaType(request))) scanJsonBody(data);
    return { data, text: data.toString("utf8"), bytes };
  }
}

/** Media type of a body without parameters. */
export function mediaType(request: IncomingMessage): string | undefined {
  return request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
}

/**
 * Checks JSON before it is parsed.
 *
 * @throws ApiError BadRequest when it has too many values or is nested too deeply
 */
export function scanJsonBody(text: string | Uint8Array): void {
  const violation = scanJson(text, { bytes: Number.POSITIVE_INFINITY, elements: MAX_ELEMENTS, depth: MAX_DEPTH });
  if (violation !== undefined) throw badRequest(`the body of the request ${violationText(violation)}`);
}

function busy({ capacity }: MemoryBudget): ApiError {
  return new ApiError("TooManyRequests", `concurrent requests use the ${capacity} bytes of memory for request bodies; retry later`, {
    retryAfterSeconds: 1,
  });
}
