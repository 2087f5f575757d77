import type { NodeTableClient } from "./node-table-client.js";
import type { ShownParts } from "./session/protocol.js";
import { startNodeTable } from "./start-worker.js";
import { encodedNodeTablePath } from "./table-path.js";

/** Pages of executions; the API names them by the same parts, encoded alike. */
const PAGE = /^\/console\/projects\/([^/]+)\/domains\/([^/]+)\/executions\/([^/]+)\/?$/;
/** A table that no page takes is closed after this time. */
const UNUSED_MS = 15_000;
/** A table that has been opened, and the names of its execution. */
export interface EarlyTable {
  readonly client: NodeTableClient;
  readonly key: { readonly project: string; readonly domain: string; readonly name: string };
}

/** Rows that a page shows before it knows its size. */
const FIRST_ROWS = { from: 0, to: 64 };
const FIRST_PARTS: ShownParts = {
  rows: FIRST_ROWS,
  bars: { ...FIRST_ROWS, level: 0 },
  buckets: { fromMs: 0, toMs: 0, count: 0 },
  folds: { stretches: [], foldedMs: 0 },
};

let early: { readonly path: string; readonly client: NodeTableClient; readonly timer: ReturnType<typeof setTimeout> } | undefined;

/**
 * Begins to read the node table of the execution at this address, so that its first rows are there
 * when the page is drawn first. A page in the background reads it once: pages that are opened
 * together leave connections for their scripts. Returns undefined at another address.
 */
export function openEarlyTable({ pathname, origin }: Pick<Location, "pathname" | "origin">, isHidden: boolean): EarlyTable | undefined {
  const [, project, domain, name] = PAGE.exec(pathname) ?? [];
  if (project === undefined || domain === undefined || name === undefined) return undefined;
  const path = encodedNodeTablePath([project, domain, name]);
  const client = startNodeTable();
  client.open({ path, origin, isFollowed: !isHidden, awaitsDraw: !isHidden });
  client.show(FIRST_PARTS);
  early = { path, client, timer: setTimeout(() => takeEarlyTable(path)?.close(), UNUSED_MS) };
  return { client, key: { project: decodeURIComponent(project), domain: decodeURIComponent(domain), name: decodeURIComponent(name) } };
}

/**
 * Returns the table that has been opened for this path, which its page takes later; undefined after
 * a failure, as of a sign-in that has expired: its page opens the table anew.
 */
export function earlyTable(path: string): NodeTableClient | undefined {
  return early?.path === path && early.client.failure.get() === undefined ? early.client : undefined;
}

/** Takes the table that has been opened for this path; undefined if there is none. */
export function takeEarlyTable(path: string): NodeTableClient | undefined {
  if (early?.path !== path) return undefined;
  const { client, timer } = early;
  clearTimeout(timer);
  early = undefined;
  return client;
}
