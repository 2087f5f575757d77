import type { IncomingMessage } from "node:http";

/**
 * Formats an entity tag (RFC 9110, 8.8.3). It is weak: the same answer has it in every coding.
 *
 * @param tag letters, digits, `-` and `_`
 * @param form distinguishes the formats of one answer
 */
export function formatEntityTag(tag: string, form: string): string {
  return `W/"${tag}.${form}"`;
}

/** True when a client has the answer with this tag already (`If-None-Match`, RFC 9110, 13.1.2). */
export function isNotModified({ method, headers }: Pick<IncomingMessage, "method" | "headers">, tag: string): boolean {
  const known = headers["if-none-match"];
  if (known === undefined || (method !== "GET" && method !== "HEAD")) return false;
  const opaque = (text: string): string => text.trim().replace(/^W\//, "");
  return known.trim() === "*" || known.split(",").some((each) => opaque(each) === opaque(tag));
}
