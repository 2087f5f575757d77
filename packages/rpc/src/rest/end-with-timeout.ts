import type { ServerResponse } from "node:http";

/**
 * Ends a stream. A client that reads nothing would never see the end: its connection is closed soon
 * after.
 */
export function endWithTimeout(response: ServerResponse, timeoutMs: number): void {
  const timer = setTimeout(() => response.destroy(), timeoutMs);
  response.once("close", () => clearTimeout(timer));
  response.end();
}
