import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { HttpPolicy } from "@flyte-ts/http-policy";
import { ApiError } from "../api-error.js";

export interface AccessOptions {
  /**
   * Secret that requests must carry as a bearer token or as the first part of the path. Undefined:
   * no authentication.
   */
  readonly token: string | undefined;
  /** Secret that, as the first part of the path, grants access to pod logs only. */
  readonly logToken?: string | undefined;
  /** Rejects requests of other web origins and with foreign host names. */
  readonly policy: HttpPolicy;
}

const POD_LOG_PATH = /^\/api\/v1\/namespaces\/[^/]+\/pods\/[^/]+\/log$/;

/**
 * Checks the caller's token, since this API starts processes.
 *
 * @returns the path without the token
 *
 * @throws ApiError Unauthorized
 */
export function authenticate(request: IncomingMessage, path: string, { token, logToken }: Omit<AccessOptions, "policy">): string {
  if (token === undefined) return path;
  const { authorization } = request.headers;
  if (authorization?.startsWith("Bearer ") === true && equalsInConstantTime(authorization.slice(7), token)) return path;
  const first = path.indexOf("/", 1);
  const prefix = path.slice(1, first < 0 ? undefined : first);
  const rest = first < 0 ? "/" : path.slice(first);
  if (equalsInConstantTime(prefix, token)) return rest;
  if (logToken !== undefined && equalsInConstantTime(prefix, logToken) && request.method === "GET" && POD_LOG_PATH.test(rest)) return rest;
  throw new ApiError("Unauthorized", "Unauthorized");
}

/**
 * Rejects requests of other web origins and with foreign host names.
 *
 * @throws ApiError Forbidden
 */
export function checkPolicy(request: IncomingMessage, policy: HttpPolicy): void {
  const refusal = policy.checkRequest(request);
  if (refusal !== undefined) throw new ApiError("Forbidden", refusal.reason);
}

function equalsInConstantTime(given: string, wanted: string): boolean {
  const a = Buffer.from(given);
  const b = Buffer.from(wanted);
  return a.length === b.length && timingSafeEqual(a, b);
}
