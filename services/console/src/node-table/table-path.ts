/** Parts of an execution's identifier. */
interface ExecutionParts {
  readonly project: string;
  readonly domain: string;
  readonly name: string;
}

/** Path of an execution's node table. */
export function nodeTablePath({ project, domain, name }: ExecutionParts): string {
  return encodedNodeTablePath([project, domain, name].map(encodeURIComponent));
}

/** Path of an execution's node table by the encoded parts of its identifier. */
export function encodedNodeTablePath(parts: readonly string[]): string {
  return `/api/v1/watch/node_table/${parts.join("/")}`;
}

/** Path of the items of an array node's attempt; without `attempt`, of the latest one. */
export function itemTablePath({ project, domain, name }: ExecutionParts, node: string, attempt: number | undefined): string {
  const parts = [project, domain, name, node].map(encodeURIComponent);
  return `/api/v1/watch/item_table/${parts.join("/")}${attempt === undefined ? "" : `?attempt=${attempt}`}`;
}
