import { invalidArgument } from "./invalid.js";

const MOST = 1_000;
const USUAL = 100;

/** Returns the page size: the requested limit, or the default when it is 0. @throws RpcError INVALID_ARGUMENT. */
export function rowLimit(limit: number, usual: number = USUAL): number {
  if (limit < 0 || limit > MOST) throw invalidArgument(`invalid value for limit: at most ${MOST}, found ${limit}`);
  return limit || usual;
}

/** A page of rows, newest first. A token is the id of the last listed row. */
export interface NewestFirst {
  readonly limit: number;
  /** Exclusive upper bound of the row ids; null for the first page. */
  readonly before: string | null;
}

/** @throws RpcError INVALID_ARGUMENT. */
export function newestFirst({ limit, token }: { readonly limit: number; readonly token: string }): NewestFirst {
  if (!/^[0-9]{0,18}$/.test(token)) throw invalidArgument("invalid value for token: it is not from an answer before");
  return { limit: rowLimit(limit), before: token === "" ? null : token };
}

/** Returns the token of the next page; empty without one. */
export function olderToken(rows: readonly { readonly id: bigint }[], { limit }: NewestFirst): string {
  return rows.length === limit ? String(rows.at(-1)?.id ?? "") : "";
}
