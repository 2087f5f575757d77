import {
  type PaginationOptions,
  PaginationOptions_SortKey as SortKey,
  PaginationOptions_SortOrder as SortOrder,
} from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import type { Query } from "@flyte-ts/postgres";
import { invalidArgument } from "../rpc-errors.js";
import type { Condition } from "./filter.js";

/** Default page size. */
const DEFAULT_LIMIT = 50;

/** Maximum page size: each artifact comes with its data. */
const MAX_LIMIT = 1000;

export interface Page {
  readonly limit: number;
  readonly offset: number;
  readonly order: "ASC" | "DESC";
}

/** @throws RpcError INVALID_ARGUMENT naming the invalid option. */
export function pageOf(options: PaginationOptions | undefined): Page {
  if (options === undefined) return { limit: DEFAULT_LIMIT, offset: 0, order: "DESC" };
  const { limit, sortKey, sortOrder } = options;
  const token = options.token.trim();
  if (!/^\d{0,9}$/.test(token)) throw invalidArgument(`Invalid token value: ${options.token}`);
  if (sortKey !== SortKey.CREATION_TIME) throw invalidArgument(`Invalid sort key ${String(sortKey)}`);
  if (sortOrder !== SortOrder.ASCENDING && sortOrder !== SortOrder.DESCENDING) {
    throw invalidArgument(`Invalid sort order ${String(sortOrder)}`);
  }
  return {
    limit: limit === 0 ? DEFAULT_LIMIT : Math.min(limit, MAX_LIMIT),
    offset: Number(token),
    order: sortOrder === SortOrder.ASCENDING ? "ASC" : "DESC",
  };
}

/** Empty after the last page. */
export function nextToken({ limit, offset }: Page, rows: number): string {
  return rows < limit ? "" : String(offset + rows);
}

export interface Selection {
  readonly columns: string;
  readonly table: string;
  readonly conditions: readonly Condition[];
  readonly page: Page;
}

/** Orders rows by creation time; equal times in order of insertion. */
export function selectPage({ columns, table, conditions, page: { limit, offset, order } }: Selection): Query {
  const values: unknown[] = [];
  const place = (value: unknown) => `$${values.push(value)}`;
  const where = conditions.map(({ sql }) => sql(place)).join(" AND ");
  return {
    text: `SELECT ${columns} FROM ${table} ${where === "" ? "" : `WHERE ${where} `}ORDER BY created_at ${order}, id ${order} LIMIT ${limit} OFFSET ${offset}`,
    values,
  };
}
