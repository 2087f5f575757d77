/**
 * A database snapshot as PostgreSQL writes it (`pg_snapshot`: `xmin:xmax:xip,…`): the transactions
 * that had ended. For a row whose last writer is known, it determines whether the snapshot contains
 * the row's current version.
 */
export interface Snapshot {
  readonly text: string;
  /** All lower transactions had ended. */
  readonly xmin: number;
  /** Neither this nor any higher transaction had ended. */
  readonly xmax: number;
  /** Transactions from `xmin` up to `xmax` that had not ended. */
  readonly running: ReadonlySet<number>;
}

const FORM = /^([0-9]{1,15}):([0-9]{1,15}):((?:[0-9]{1,15}(?:,[0-9]{1,15})*)?)$/;

/** Parses a snapshot; undefined for an invalid text. */
export function parseSnapshot(text: string): Snapshot | undefined {
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const [, xmin = "", xmax = "", running = ""] = match;
  const ids = running === "" ? [] : running.split(",").map(Number);
  return { text, xmin: Number(xmin), xmax: Number(xmax), running: new Set(ids) };
}

/** True when the transaction had ended. */
export function isVisible(snapshot: Snapshot, xid: number): boolean {
  return xid < snapshot.xmin || (xid < snapshot.xmax && !snapshot.running.has(xid));
}

/** True when every transaction that had ended at `then` had also ended at `now`. */
export function isAtLeast(now: Snapshot, then: Snapshot): boolean {
  return then.xmax <= now.xmax && [...now.running].every((xid) => xid >= then.xmax || then.running.has(xid));
}
