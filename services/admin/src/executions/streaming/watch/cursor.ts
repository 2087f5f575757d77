import { parseSnapshot, type Snapshot } from "../../store/watch/snapshot.js";
import type { RowKey } from "../../store/watch/row.js";

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
 * Resume position: snapshot `at`; after a partial message (`partial`) the snapshot `before`, plus
 * the rows up to `key` that changed between `before` and `at`.
 */
export interface Cursor {
  /** Id of the execution's row: a name may be used again. */
  readonly executionId: number;
  readonly at: Snapshot;
  readonly partial?: { readonly before: Snapshot | undefined; readonly key: RowKey } | undefined;
  /**
   * Hash of the execution as last sent; its row is written more often than its visible state
   * changes.
   */
  readonly executionHash: string;
  readonly ended: boolean;
}

const VERSION = "1";

/** Encodes a cursor with characters that headers and URLs keep. */
export function writeCursor({ executionId, at, partial, executionHash, ended }: Cursor): string {
  const parts = [VERSION, executionId, at.text, executionHash, ended ? "e" : ""];
  if (partial !== undefined) parts.push(partial.before?.text ?? "", keyText(partial.key));
  return Buffer.from(parts.join("/")).toString("base64url");
}

/** Parses a cursor; undefined for an invalid text. */
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
