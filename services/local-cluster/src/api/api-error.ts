import type { Json, JsonObject } from "../object/model.js";

/** Reasons as metav1.StatusReason names them, each with its HTTP code. */
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

/** One broken rule: its reason (FieldValueInvalid …), text, and the field. */
export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

/** Refusals of the request itself carry details that say nothing. */
const REASONS_WITHOUT_DETAILS: ReadonlySet<Reason> = new Set(["MethodNotAllowed", "NotAcceptable", "UnsupportedMediaType"]);

/** A refusal that the client sees as a metav1.Status. */
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

/** `pods "x"`, `flyteworkflows.flyte.lyft.com "x"`: how messages name an object. */
const objectText = ({ group, plural, name }: Named) => `${group === "" ? plural : `${plural}.${group}`} "${name}"`;
const detailsOf = ({ group, plural, name }: Named): ErrorDetails => ({ name, ...(group === "" ? {} : { group }), kind: plural });

export const notFound = (named: Named) => new ApiError("NotFound", `${objectText(named)} not found`, detailsOf(named));

export const alreadyExists = (named: Named) => new ApiError("AlreadyExists", `${objectText(named)} already exists`, detailsOf(named));

export const conflict = (named: Named, why: string) =>
  new ApiError("Conflict", `Operation cannot be fulfilled on ${objectText(named)}: ${why}`, detailsOf(named));

export const MODIFIED_MESSAGE = "the object has been modified; please apply your changes to the latest version and try again";

export const forbidden = (named: Named, why: string) =>
  new ApiError("Forbidden", `${objectText(named)} is forbidden: ${why}`, detailsOf(named));

/** Most broken rules that are told; an object may break hundreds of thousands, each of which is told with its whole rule. */
export const MAX_CAUSES = 100;

/** Names have at most 253 characters; one that is refused for its length is not told whole. */
const MAX_SHOWN_NAME = 300;

/** A 422 as Kubernetes words it; `kind` is the object's kind, `causes` one per broken rule, of which the first are told. */
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

/** A watch or a continued list that starts before what is kept. */
export const expired = (message: string) => new ApiError("Expired", message);
