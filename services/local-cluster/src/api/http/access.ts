import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { HttpPolicy } from "@flyte-ts/http-policy";
import { ApiError } from "../api-error.js";

export interface AccessOptions {
  /** Secret that requests must carry, as a bearer token or as the first part of the path; undefined leaves the server open. */
  readonly token: string | undefined;
  /** Secret that, as the first part of the path, opens the logs of pods and nothing else. */
  readonly logToken?: string | undefined;
  /** Refuses requests of other web pages, and by other names than this server's. */
  readonly policy: HttpPolicy;
}

const POD_LOG_PATH = /^\/api\/v1\/namespaces\/[^/]+\/pods\/[^/]+\/log$/;

/**
 * Checks that the caller has the token: this API starts processes. Answers the path without the token.
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
 * Refuses requests that another web page has caused, or that come by a name that is not this server's.
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
