import type { Json, JsonObject } from "../object/model.js";

/** Reasons of metav1.StatusReason with their HTTP codes. */
const CODES = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
} as const;

export type Reason = keyof typeof CODES;

export interface ErrorDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly Cause[];
  readonly retryAfterSeconds?: number;
}

/** A violated rule: its reason (FieldValueInvalid …), message and field. */
export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

/** Errors of the request itself carry no details. */
const REASONS_WITHOUT_DETAILS: ReadonlySet<Reason> = new Set(["MethodNotAllowed", "NotAcceptable", "UnsupportedMediaType"]);

/** An error that the client receives as a metav1.Status. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: number;

  constructor(
    readonly reason: Reason,
    message: string,
    readonly details?: ErrorDetails,
  ) {
    super(message);
    this.code = CODES[reason];
  }

  toStatus(): JsonObject {
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: this.message,
      reason: this.reason,
      ...(this.details === undefined && !REASONS_WITHOUT_DETAILS.has(this.reason)
        ? {}
        : { details: (this.details ?? {}) as unknown as Json }),
      code: this.code,
    };
  }
}

export interface Named {
  readonly group: string;
  readonly plural: string;
  readonly name: string;
}

/** Formats an object's name for messages: `pods "x"`, `flyteworkflows.flyte.lyft.com "x"`. */
const objectText = ({ group, plural, name }: Named) => `${group === "" ? plural : `${plural}.${group}`} "${name}"`;
const detailsOf = ({ group, plural, name }: Named): ErrorDetails => ({ name, ...(group === "" ? {} : { group }), kind: plural });

export const notFound = (named: Named) => new ApiError("NotFound", `${objectText(named)} not found`, detailsOf(named));

export const alreadyExists = (named: Named) => new ApiError("AlreadyExists", `${objectText(named)} already exists`, detailsOf(named));

export const conflict = (named: Named, why: string) =>
  new ApiError("Conflict", `Operation cannot be fulfilled on ${objectText(named)}: ${why}`, detailsOf(named));

export const MODIFIED_MESSAGE = "the object has been modified; please apply your changes to the latest version and try again";

export const forbidden = (named: Named, why: string) =>
  new ApiError("Forbidden", `${objectText(named)} is forbidden: ${why}`, detailsOf(named));

/**
 * Maximum number of violated rules in one error: an object may violate hundreds of thousands, each
 * with a long text.
 */
export const MAX_CAUSES = 100;

/** Maximum length of a name in an error. Valid names have at most 253 characters. */
const MAX_SHOWN_NAME = 300;

/**
 * Creates a 422 in the words of Kubernetes. `causes` has one entry per violated rule; the first
 * ones are shown.
 */
export function invalid(found: { kind: string; group: string; name: string; causes: readonly Cause[] }): ApiError {
  const { kind, group } = found;
  const name = found.name.length > MAX_SHOWN_NAME ? `${found.name.slice(0, MAX_SHOWN_NAME)}…` : found.name;
  const causes = found.causes.slice(0, MAX_CAUSES);
  const texts = causes.map((cause) => (cause.field === undefined ? cause.message : `${cause.field}: ${cause.message}`));
  const list = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  const qualified = group === "" ? kind : `${kind}.${group}`;
  return new ApiError("Invalid", `${qualified} "${name}" is invalid: ${list}`, { name, ...(group === "" ? {} : { group }), kind, causes });
}

export const badRequest = (message: string) => new ApiError("BadRequest", message);

/** Error of a watch or a continued list that starts before the retained history. */
export const expired = (message: string) => new ApiError("Expired", message);
