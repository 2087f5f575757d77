import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { ApiError } from "../api-error.js";

export interface AccessRules {
  /** Secret that requests must carry, as a bearer token or as the first part of the path; undefined leaves the server open. */
  readonly token: string | undefined;
  /** The server listens on loopback only. */
  readonly loopback: boolean;
}

/**
 * Refuses requests that a web page may have caused: this API starts processes.
 * Browsers name the page's origin, and a page that reaches loopback through a
 * rebound DNS name sends that name as Host. Answers the path without the token.
 *
 * @throws ApiError Forbidden, Unauthorized
 */
export function checkAccess(request: IncomingMessage, path: string, { token, loopback }: AccessRules): string {
  const { origin, host = "", authorization } = request.headers;
  if (origin !== undefined || request.headers["sec-fetch-site"] !== undefined)
    throw new ApiError("Forbidden", "requests from web pages are not accepted");
  if (loopback && !/^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i.test(host))
    throw new ApiError("Forbidden", `host ${JSON.stringify(host)} is not accepted: use 127.0.0.1 or localhost`);
  if (token === undefined) return path;
  if (authorization?.startsWith("Bearer ") === true && same(authorization.slice(7), token)) return path;
  const first = path.indexOf("/", 1);
  const prefix = path.slice(1, first < 0 ? undefined : first);
  if (same(prefix, token)) return first < 0 ? "/" : path.slice(first);
  throw new ApiError("Unauthorized", "Unauthorized");
}

function same(given: string, wanted: string): boolean {
  const a = Buffer.from(given);
  const b = Buffer.from(wanted);
  return a.length === b.length && timingSafeEqual(a, b);
}
