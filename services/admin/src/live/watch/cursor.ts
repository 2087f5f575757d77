import { parseSnapshot, type Snapshot } from "./snapshot.js";

/** Place of a row in messages: the execution, then nodes, then task attempts, each by the numbers of their rows. */
export interface RowKey {
  readonly kind: "execution" | "node" | "task";
  readonly id: number;
}

const ORDER = { execution: 0, node: 1, task: 2 } as const;
const LETTERS = { execution: "e", node: "n", task: "t" } as const;
const KINDS: Readonly<Record<string, RowKey["kind"]>> = { e: "execution", n: "node", t: "task" };

export function compareKeys(a: RowKey, b: RowKey): number {
  return ORDER[a.kind] - ORDER[b.kind] || a.id - b.id;
}

export function keyText({ kind, id }: RowKey): string {
  return `${LETTERS[kind]}${id}`;
}

/**
 * What a watcher has been told: every row as the moment `at` saw it. When a message stopped in the middle (`partial`):
 * the rows as the moment `before` saw them and, of those that changed from then to `at`, the ones up to `key`.
 */
export interface Cursor {
  /** Number of the execution's row: a name may be used again. */
  readonly executionId: number;
  readonly at: Snapshot;
  readonly partial?: { readonly before: Snapshot | undefined; readonly key: RowKey } | undefined;
  /** Of the execution as it was told last; its row is written more often than it changes for watchers. */
  readonly executionHash: string;
  readonly ended: boolean;
}

const VERSION = "1";

/** A text without characters that headers or addresses would change. */
export function writeCursor({ executionId, at, partial, executionHash, ended }: Cursor): string {
  const parts = [VERSION, executionId, at.text, executionHash, ended ? "e" : ""];
  if (partial !== undefined) parts.push(partial.before?.text ?? "", keyText(partial.key));
  return Buffer.from(parts.join("/")).toString("base64url");
}

/** Undefined when the text is no cursor. */
export function readCursor(text: string): Cursor | undefined {
  const parts = Buffer.from(text, "base64url").toString("latin1").split("/");
  const [version, executionId = "", atText = "", executionHash = "", ended, beforeText, keyPart] = parts;
  const at = parseSnapshot(atText);
  if (version !== VERSION || !/^[0-9]{1,15}$/.test(executionId) || at === undefined) return undefined;
  const cursor = { executionId: Number(executionId), at, executionHash, ended: ended === "e" };
  if (keyPart === undefined || beforeText === undefined) return parts.length === 5 ? cursor : undefined;
  const match = /^([ent])([0-9]{1,15})$/.exec(keyPart);
  const kind = KINDS[match?.[1] ?? ""];
  const before = beforeText === "" ? undefined : parseSnapshot(beforeText);
  if (kind === undefined || (beforeText !== "" && before === undefined) || parts.length !== 7) return undefined;
  return { ...cursor, partial: { before, key: { kind, id: Number(match?.[2]) } } };
}
