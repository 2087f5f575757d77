import { invalidArgument } from "./invalid.js";

const MOST = 1_000;
const USUAL = 100;

/** How many rows an answer has: as many as are asked for, and where that is 0 the usual number. @throws RpcError INVALID_ARGUMENT. */
export function rowLimit(limit: number, usual: number = USUAL): number {
  if (limit < 0 || limit > MOST) throw invalidArgument(`invalid value for limit: at most ${MOST}, found ${limit}`);
  return limit || usual;
}

/** A page of rows that are told newest first. A token is the number of the last row that was shown. */
export interface NewestFirst {
  readonly limit: number;
  /** Only rows with a smaller number; null for the first page. */
  readonly before: string | null;
}

/** @throws RpcError INVALID_ARGUMENT. */
export function newestFirst({ limit, token }: { readonly limit: number; readonly token: string }): NewestFirst {
  if (!/^[0-9]{0,18}$/.test(token)) throw invalidArgument("invalid value for token: it is not from an answer before");
  return { limit: rowLimit(limit), before: token === "" ? null : token };
}

/** The token of the next page; empty when there is none. */
export function olderToken(rows: readonly { readonly id: bigint }[], { limit }: NewestFirst): string {
  return rows.length === limit ? String(rows.at(-1)?.id ?? "") : "";
}
