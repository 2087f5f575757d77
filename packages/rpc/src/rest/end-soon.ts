import type { ServerResponse } from "node:http";

/** Ends a stream. A client that reads nothing would never see the end: its connection is closed soon after. */
export function endSoon(response: ServerResponse, stallMs: number): void {
  const timer = setTimeout(() => response.destroy(), stallMs);
  response.once("close", () => clearTimeout(timer));
  response.end();
}
