import type { DescMessage } from "@bufbuild/protobuf";
import {
  MemoryBudget,
  type Compression,
  inflateBounded,
  maxInflatedBytes,
  InflateError,
  type Limits,
  measureJson,
  type Measurement,
  measureMessage,
  memoryShare,
  Reservation,
  type Violation,
  violationText,
} from "@flyte-ts/input-limits";
import type { Admitted } from "../call-guard.js";
import { Code } from "../code.js";
import { JSON_BODY, MAX_UNPACKED_BYTES, SMALL_REQUEST } from "./request-limits.js";
import { RpcError } from "../rpc-error.js";

/** Memory used for each byte of a request: received, joined, decoded and encoded again. */
const MEMORY_PER_BYTE = 4;
/** Average memory of a decoded field besides its bytes. */
const MEMORY_PER_ELEMENT = 128;
/**
 * Requests up to this size cannot hold enough elements to matter, so they are decoded without a
 * scan.
 */
const UNSCANNED_BYTES = 4 * 1024;
/** Message fields appear in JSON as an object within a list or map. */
const JSON_LEVELS_PER_MESSAGE = 2;

let processBudget: MemoryBudget | undefined;

/** Memory for the requests of all servers in this process together: half of the process's. */
export function sharedBudget(): MemoryBudget {
  processBudget ??= new MemoryBudget(memoryShare(0.5));
  return processBudget;
}

/** The request is larger than its method accepts; REST answers 413. */
export class RequestTooLarge extends RpcError {
  constructor(message: string) {
    super(Code.RESOURCE_EXHAUSTED, message);
  }
}

/** Reasons of refusals for size: of this server, of grpc-go and grpc-js, and of FlyteAdmin. */
const SIZE_REASONS = /\b(?:larger than|has more than \d+ elements|this request needs more|exceeds the limit of \d+ bytes)\b/;

/**
 * Tells whether the server refuses this request for its size, so that a retry is useless. The code
 * is the same as for a server that is busy, and stock servers add no details.
 */
export function isRefusedForSize(error: RpcError): boolean {
  return error.code === Code.RESOURCE_EXHAUSTED && SIZE_REASONS.test(error.message);
}

/**
 * Admits the bytes of one request: bounds them by limits, and reserves their part of the budget
 * until `release`.
 */
export class Intake {
  readonly limits: Limits;
  readonly #lacking: RpcError | undefined;
  readonly #reservation: Reservation;
  readonly #budget: MemoryBudget;

  constructor(limits: Limits, budget: MemoryBudget, { lacking }: Admitted = {}) {
    this.limits = lacking === undefined ? limits : least(limits, SMALL_REQUEST);
    this.#lacking = lacking;
    this.#budget = budget;
    this.#reservation = new Reservation(budget);
  }

  /** Maximum size of a compressed request, both compressed and decompressed. */
  get unpackedBytes(): number {
    return Math.min(this.limits.bytes, MAX_UNPACKED_BYTES);
  }

  /**
   * Records the number of bytes received.
   *
   * @throws RpcError RESOURCE_EXHAUSTED when they exceed the limit, or all requests together the
   *   budget.
   */
  received(bytes: number, limit = this.limits.bytes): void {
    this.announced(bytes, limit);
    this.#reserve(bytes);
  }

  /** Checks the size announced by the client. */
  announced(bytes: number, limit = this.limits.bytes): void {
    if (bytes <= limit) return;
    throw this.#lacking ?? new RequestTooLarge(`request body is larger than ${Math.min(limit, this.limits.bytes)} bytes`);
  }

  /**
   * Checks an encoded message before it is decoded. `partly`: its method decodes only a part of it,
   * so elements need no memory.
   *
   * @throws RpcError RESOURCE_EXHAUSTED or INVALID_ARGUMENT
   */
  message(schema: DescMessage, bytes: Uint8Array, partly = false): void {
    if (bytes.length <= UNSCANNED_BYTES) return;
    this.#check(schema, bytes.length, measureMessage(schema, bytes, this.limits), partly);
  }

  /** Checks JSON before it is parsed, as `message` does; returns its nesting depth. */
  json(schema: DescMessage, text: Uint8Array): number {
    const limits = {
      bytes: Number.POSITIVE_INFINITY,
      elements: Math.min(this.limits.elements, JSON_BODY.elements),
      depth: this.limits.depth * JSON_LEVELS_PER_MESSAGE,
    };
    const measured = measureJson(text, limits);
    this.#check(schema, text.length, measured, false);
    return measured.depth;
  }

  /** Checks the protobuf encoding of a request that was decoded from JSON. */
  decoded(schema: DescMessage, bytes: Uint8Array): void {
    const { bytes: most } = this.limits;
    if (bytes.length > most) throw this.#lacking ?? new RequestTooLarge(`request of ${bytes.length} bytes is larger than ${most}`);
    this.#check(schema, bytes.length, measureMessage(schema, bytes, this.limits), false);
  }

  /**
   * Decompresses one message of at most MAX_UNPACKED_BYTES, after reserving its memory.
   *
   * @throws RpcError RESOURCE_EXHAUSTED or INVALID_ARGUMENT
   */
  async inflate(bytes: Uint8Array, compression: Compression): Promise<Buffer> {
    const most = this.unpackedBytes;
    this.received(maxInflatedBytes(bytes, compression, most));
    try {
      return await inflateBounded(bytes, compression, most);
    } catch (error) {
      if (!(error instanceof InflateError)) throw error;
      if (error.kind === "bytes") throw this.#lacking ?? new RequestTooLarge(`request body ${error.message}`);
      throw new RpcError(Code.INVALID_ARGUMENT, `request body ${error.message}`, { cause: error });
    }
  }

  /** Releases the request's part of the budget. */
  release(): void {
    this.#reservation.release();
  }

  #check(schema: DescMessage, length: number, { violation, elements }: Measurement, partly: boolean): void {
    if (violation !== undefined) throw this.#lacking ?? violationError(schema, violation);
    this.#reserve(length * MEMORY_PER_BYTE + (partly ? 0 : elements * MEMORY_PER_ELEMENT));
  }

  #reserve(bytes: number): void {
    if (this.#reservation.growTo(bytes)) return;
    const { capacity } = this.#budget;
    const memory = `the server has ${capacity} bytes of memory for requests`;
    if (bytes > capacity) throw new RequestTooLarge(`${memory}: this request needs more`);
    throw new RpcError(Code.RESOURCE_EXHAUSTED, `${memory}: other requests use it; try again`);
  }
}

function violationError(schema: DescMessage, violation: Violation): RpcError {
  const text = violationText(violation);
  switch (violation.kind) {
    case "bytes":
    case "elements":
      return new RequestTooLarge(`request ${schema.typeName} ${text}`);
    case "depth":
    case "malformed":
      return new RpcError(Code.INVALID_ARGUMENT, `request is not a valid ${schema.typeName}: it ${text}`);
  }
}

function least(one: Limits, other: Limits): Limits {
  return {
    bytes: Math.min(one.bytes, other.bytes),
    elements: Math.min(one.elements, other.elements),
    depth: Math.min(one.depth, other.depth),
  };
}
