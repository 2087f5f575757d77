/** Project and domain. */
export interface Scope {
  readonly project: string;
  readonly domain: string;
}

/** Identifier of an execution. */
export interface ExecutionKey extends Scope {
  readonly name: string;
}

/** A page of a list. */
export interface ListQuery {
  readonly limit: number;
  /** Position of the page, from the one before it. */
  readonly token?: string;
  readonly filters?: string | undefined;
  readonly sortBy?: { readonly key: string; readonly direction: "ASCENDING" | "DESCENDING" };
}

/** Formats a page's parameters. */
export function listParameters({ limit, token, filters, sortBy }: ListQuery): Readonly<Record<string, string | number | undefined>> {
  return { limit, token, filters, "sort_by.key": sortBy?.key, "sort_by.direction": sortBy?.direction };
}
