import type { IncomingMessage, ServerResponse } from "node:http";
import { MemoryBudget, memoryShare, Reservation, scanJson, violationText } from "@flyte-ts/input-limits";
import { ApiError, badRequest } from "../api-error.js";
import { PROTOBUF_MEDIA_TYPE } from "./protobuf-body.js";

/** Memory that a body takes while its request is handled, for each of its bytes: as text, as objects and as a stored record. */
const MEMORY_PER_BYTE = 8;
/** Deepest nesting of an object. What walks over objects does so recursively, and the stack of Node.js is some thousands deep. */
export const MAX_DEPTH = 500;
/** Most values of a JSON body: an object of the largest size that is stored has fewer. */
const MAX_ELEMENTS = 400_000;
/** Bodies whose own readers bound them. */
const OTHER_MEDIA_TYPES: readonly (string | undefined)[] = ["application/yaml", "application/apply-patch+yaml", PROTOBUF_MEDIA_TYPE];

export interface Body {
  readonly data: Buffer;
  readonly text: string;
  readonly bytes: number;
}

/** Reads bodies, each up to a limit, and all that are handled at the same time up to half of the memory of the process. */
export class BodyReader {
  readonly #limit: number;
  readonly #budget: MemoryBudget;

  constructor(limit: number, budget = new MemoryBudget(memoryShare(0.5))) {
    this.#limit = limit;
    this.#budget = budget;
  }

  /**
   * Reads a whole body; its memory is held until the response closes.
   *
   * @throws ApiError RequestEntityTooLarge, TooManyRequests, or BadRequest where JSON has too many values or is nested too deep.
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

/** Type of a body, without its parameters. */
export function mediaType(request: IncomingMessage): string | undefined {
  return request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
}

/**
 * Checks JSON before it is parsed.
 *
 * @throws ApiError BadRequest where it has too many values or is nested too deep.
 */
export function scanJsonBody(text: string | Uint8Array): void {
  const violation = scanJson(text, { bytes: Number.POSITIVE_INFINITY, elements: MAX_ELEMENTS, depth: MAX_DEPTH });
  if (violation !== undefined) throw badRequest(`the body of the request ${violationText(violation)}`);
}

function busy({ capacity }: MemoryBudget): ApiError {
  return new ApiError("TooManyRequests", `other requests take too much of the ${capacity} bytes of memory for requests; try again`, {
    retryAfterSeconds: 1,
  });
}
