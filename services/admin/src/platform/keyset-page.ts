import { invalidArgument } from "./rpc-errors.js";

const MAX_LIMIT = 1_000;
const DEFAULT_LIMIT = 100;

/**
 * Returns the page size: the requested limit, or the default when it is 0. @throws RpcError
 * INVALID_ARGUMENT.
 */
export function checkLimit(limit: number, usual: number = DEFAULT_LIMIT): number {
  if (limit < 0 || limit > MAX_LIMIT) throw invalidArgument(`invalid value for limit: at most ${MAX_LIMIT}, found ${limit}`);
  return limit || usual;
}

/** A page of rows, newest first. A token is the id of the last listed row. */
export interface KeysetPage {
  readonly limit: number;
  /** Exclusive upper bound of the row ids; null for the first page. */
  readonly before: string | null;
}

/** @throws RpcError INVALID_ARGUMENT. */
export function parseKeysetPage({ limit, token }: { readonly limit: number; readonly token: string }): KeysetPage {
  if (!/^[0-9]{0,18}$/.test(token)) throw invalidArgument("invalid page token: use the token returned by the previous response");
  return { limit: checkLimit(limit), before: token === "" ? null : token };
}

/** Returns the token of the next page; empty without one. */
export function nextPageToken(rows: readonly { readonly id: bigint }[], { limit }: KeysetPage): string {
  return rows.length === limit ? String(rows.at(-1)?.id ?? "") : "";
}
