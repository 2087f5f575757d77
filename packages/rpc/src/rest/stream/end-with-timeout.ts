import type { ServerResponse } from "node:http";
import type { Writable } from "node:stream";

/**
 * Ends a stream by its body, which is the response or writes into it. A client that reads nothing
 * would never see the end: its connection is closed soon after.
 */
export function endWithTimeout(
  response: ServerResponse,
  { body, timeoutMs }: { readonly body: Writable; readonly timeoutMs: number },
): void {
  const timer = setTimeout(() => response.destroy(), timeoutMs);
  response.once("close", () => clearTimeout(timer));
  body.end();
}
