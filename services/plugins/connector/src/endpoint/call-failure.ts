import { Code, codeName, RpcError } from "@flyte-ts/rpc";

/**
 * Cause of a failed call:
 *
 * - `unavailable`: the connector did not answer, or cannot now. The call is repeated later.
 * - `invalid`: it rejects the request, and will reject it again.
 * - `missing`: it does not know the task, or its type.
 * - `error`: its code failed; the text is its traceback.
 */
export type CallFailureKind = "unavailable" | "invalid" | "missing" | "error";

export interface CallFailureDetails {
  readonly kind: CallFailureKind;
  /** True when the call certainly had no effect. */
  readonly withoutEffect: boolean;
  /** Delay before the next try, ms, where it is known. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** A failed call of a connector. The message is for users: it names the endpoint and the call. */
export class CallFailure extends Error {
  override readonly name = "CallFailure";
  readonly kind: CallFailureKind;
  readonly withoutEffect: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { kind, withoutEffect, retryAfterMs, cause }: CallFailureDetails) {
    super(message, { cause });
    this.kind = kind;
    this.withoutEffect = withoutEffect;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Converts the error of a call. */
export function callFailure(error: unknown, endpoint: string, call: string): CallFailure {
  if (error instanceof CallFailure) return error;
  if (!(error instanceof RpcError)) {
    const text = error instanceof Error ? error.message : String(error);
    return new CallFailure(describe(endpoint, call, text), { kind: "unavailable", withoutEffect: false, cause: error });
  }
  const withoutEffect = error.notSent || REJECTED.has(error.code);
  const text = `${codeName(error.code)}: ${error.message}`;
  return new CallFailure(describe(endpoint, call, text), { kind: kindOf(error.code), withoutEffect, cause: error });
}

function describe(endpoint: string, call: string, text: string): string {
  return `connector endpoint ${JSON.stringify(endpoint)}, ${call}: ${text}`;
}

/** Codes with which a connector refuses a call before it does anything. */
const REJECTED: ReadonlySet<Code> = new Set([Code.RESOURCE_EXHAUSTED, Code.UNAUTHENTICATED, Code.PERMISSION_DENIED]);

function kindOf(code: Code): CallFailureKind {
  switch (code) {
    case Code.UNAVAILABLE:
    case Code.DEADLINE_EXCEEDED:
    case Code.CANCELLED:
    case Code.ABORTED:
    case Code.RESOURCE_EXHAUSTED:
    // The token may be renewed, so a later call can succeed.
    case Code.UNAUTHENTICATED:
    case Code.PERMISSION_DENIED:
      return "unavailable";
    case Code.NOT_FOUND:
      return "missing";
    case Code.INVALID_ARGUMENT:
    case Code.FAILED_PRECONDITION:
    case Code.OUT_OF_RANGE:
    case Code.ALREADY_EXISTS:
    case Code.UNIMPLEMENTED:
      return "invalid";
    case Code.OK:
    case Code.UNKNOWN:
    case Code.INTERNAL:
    case Code.DATA_LOSS:
      return "error";
  }
}

/** True for codes of a call that no connector answered. */
export function isNoAnswer(error: unknown): boolean {
  return error instanceof RpcError && (error.notSent || error.code === Code.UNAVAILABLE || error.code === Code.DEADLINE_EXCEEDED);
}
