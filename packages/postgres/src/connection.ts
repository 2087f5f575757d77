import type { ClientConfig } from "pg";

/** Timeout of a connection attempt, and of commands that wait for no lock, ms. */
export const CONNECT_MS = 10_000;
/** Time that the server has to report its own timeout of a statement, ms. */
const ANSWER_MS = 5_000;

/**
 * Options of every connection. A host that loses power sends no end of its connections: without
 * probes, an idle one stays open for hours, and a statement on it waits as long.
 */
export const CONNECTION = {
  connectionTimeoutMillis: CONNECT_MS,
  keepAlive: true,
  // The default, 0, is the kernel's: two hours.
  keepAliveInitialDelayMillis: 10_000,
} as const satisfies ClientConfig;

/**
 * Timeouts of statements. The server enforces its own only while it is reachable; the client's
 * follows it. Zero: unlimited.
 */
export function statementTimeouts(ms: number): Pick<ClientConfig, "statement_timeout" | "query_timeout"> {
  return { statement_timeout: ms, query_timeout: ms === 0 ? 0 : ms + ANSWER_MS };
}
