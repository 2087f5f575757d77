import type { ServerResponse } from "node:http";

/** Adds a request header by which caches must tell answers apart (RFC 9110, 12.5.5). */
export function addVary(response: ServerResponse, name: string): void {
  const known = String(response.getHeader("Vary") ?? "")
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
  if (!known.some((each) => each.toLowerCase() === name.toLowerCase())) response.setHeader("Vary", [...known, name].join(", "));
}
