import { create, fromBinary, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { anyPack, anyUnpack } from "@bufbuild/protobuf/wkt";
import { StatusSchema, type Status } from "@flyte-ts/idl/google/rpc/status_pb";
import { Code, codeName, codeOf } from "./code.js";

/** A typed detail of a failure. */
export interface ErrorDetail<Desc extends DescMessage = DescMessage> {
  readonly schema: Desc;
  readonly message: MessageShape<Desc>;
}

export interface RpcErrorOptions {
  readonly details?: readonly ErrorDetail[];
  /** Cause of the failure; it is logged and never sent. */
  readonly cause?: unknown;
}

interface ReceivedOptions {
  readonly received?: Status;
  readonly notSent?: boolean;
}

/** Longest error text sent, in bytes of UTF-8: clients cap the metadata of a call at 32 KiB. */
export const MAX_MESSAGE_BYTES = 32_000;

/**
 * Failure of a call: a code from a closed list, a text for people, typed details. Handlers throw it
 * and clients receive it. Any other error of a handler reaches the client as INTERNAL with a
 * constant text.
 */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: Exclude<Code, 0>;
  readonly details: readonly ErrorDetail[];
  /** True when a client's call failed before it had a connection, so that no server received it. */
  readonly notSent: boolean;
  readonly #received: Status | undefined;

  constructor(code: Exclude<Code, 0>, message: string, options: RpcErrorOptions & ReceivedOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? [];
    this.notSent = options.notSent ?? false;
    this.#received = options.received;
  }

  /** Returns the details of one type, whether given or received. */
  findDetails<Desc extends DescMessage>(schema: Desc): MessageShape<Desc>[] {
    const given = this.details.filter((detail) => detail.schema.typeName === schema.typeName);
    const received = (this.#received?.details ?? []).map((any) => anyUnpack(any, schema));
    return [...given.map((detail) => detail.message as MessageShape<Desc>), ...received.filter((message) => message !== undefined)];
  }

  /** Converts to google.rpc.Status, with the text cut to {@link MAX_MESSAGE_BYTES}. */
  toStatus(): Status {
    return create(StatusSchema, {
      code: this.code,
      message: truncateUtf8(this.message, MAX_MESSAGE_BYTES),
      details: [...(this.#received?.details ?? []), ...this.details.map(({ schema, message }) => anyPack(schema, message))],
    });
  }

  override toString(): string {
    return `${codeName(this.code)}: ${this.message}`;
  }
}

/** Text of undeclared failures; the cause is in the server's log. */
export const INTERNAL_MESSAGE = "internal error";

/**
 * Converts any thrown value; one that is not an RpcError becomes INTERNAL and keeps the value as
 * its cause.
 */
export function toRpcError(thrown: unknown): RpcError {
  return thrown instanceof RpcError ? thrown : new RpcError(Code.INTERNAL, INTERNAL_MESSAGE, { cause: thrown });
}

/** True for an undeclared failure of a handler, whose stack belongs in the log. */
export function isUnexpected(error: RpcError): boolean {
  return error.code === Code.INTERNAL || error.code === Code.UNKNOWN;
}

/**
 * Creates an RpcError from the end of a call; `statusDetails` is the trailer
 * grpc-status-details-bin.
 */
export function receivedError(
  code: number,
  message: string,
  {
    statusDetails,
    cause,
    notSent = false,
  }: { statusDetails?: Uint8Array | undefined; cause?: unknown; readonly notSent?: boolean | undefined },
): RpcError {
  const known = codeOf(code);
  let received: Status | undefined;
  try {
    received = statusDetails && fromBinary(StatusSchema, statusDetails);
  } catch {
    received = undefined; // Broken details do not hide the error itself.
  }
  return new RpcError(known === Code.OK ? Code.UNKNOWN : known, message, { cause, notSent, ...(received && { received }) });
}

/**
 * Cuts a text to this many bytes of UTF-8, never within a character; lone surrogates become U+FFFD.
 */
export function truncateUtf8(text: string, maxBytes: number): string {
  const whole = text.toWellFormed();
  if (whole.length * 3 <= maxBytes) return whole;
  const bytes = Buffer.from(whole, "utf8");
  if (bytes.length <= maxBytes) return whole;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString("utf8");
}
