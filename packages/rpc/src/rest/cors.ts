import type { IncomingMessage } from "node:http";

export interface CorsPolicy {
  /** True when scripts of an origin may read answers. */
  readonly mayRead: (origin: string) => boolean;
  /** Allowed request headers besides the CORS-safelisted ones. */
  readonly headers: readonly string[];
}

export type CorsDecision =
  /** The request proceeds; the headers are added to its response. */
  | { readonly kind: "pass"; readonly headers: Readonly<Record<string, string>> }
  /** The response is this status without a body. */
  | { readonly kind: "answer"; readonly status: number; readonly headers: Readonly<Record<string, string>> };

const METHODS = ["GET", "POST", "DELETE", "HEAD", "PUT", "PATCH"];
/** Methods and headers without a preflight (fetch standard, CORS-safelisted). */
const SIMPLE_METHODS = ["GET", "HEAD", "POST"];
const SIMPLE_HEADERS = ["accept", "accept-language", "content-language", "origin"];

/** Evaluates the Origin of a request, on any path. */
export function decideCors({ method, headers }: Pick<IncomingMessage, "method" | "headers">, policy: CorsPolicy): CorsDecision {
  const origin = headers.origin;
  const preflight = method === "OPTIONS";
  const answer = (status: number, answerHeaders: Record<string, string> = {}): CorsDecision => ({
    kind: "answer",
    status,
    headers: answerHeaders,
  });
  if (origin === undefined || !policy.mayRead(origin)) return preflight ? answer(200) : { kind: "pass", headers: {} };

  const granted: Record<string, string> = {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Allow-Credentials": "true",
    Vary: "Origin",
  };
  if (!preflight) return { kind: "pass", headers: granted };

  const requested = headers["access-control-request-method"];
  if (requested === undefined) return answer(400);
  if (!METHODS.includes(requested)) return answer(405);
  const names = (headers["access-control-request-headers"] ?? "").split(",").map((name) => name.trim().toLowerCase());
  const special = names.filter((name) => name !== "" && !SIMPLE_HEADERS.includes(name));
  const allowed = new Set(policy.headers.map((name) => name.toLowerCase()));
  if (special.some((name) => !allowed.has(name))) return answer(403);
  if (special.length > 0) granted["Access-Control-Allow-Headers"] = special.map(canonical).join(",");
  if (!SIMPLE_METHODS.includes(requested)) granted["Access-Control-Allow-Methods"] = requested;
  return answer(200, granted);
}

/** Formats `content-type` as `Content-Type`. */
function canonical(name: string): string {
  return name.replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase());
}
