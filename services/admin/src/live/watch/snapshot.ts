/**
 * A moment of the database, as PostgreSQL writes it (`pg_snapshot`: `xmin:xmax:xip,…`): which transactions had ended
 * by then. Of a row whose last writer is known it tells whether that moment saw the row as it is.
 */
export interface Snapshot {
  readonly text: string;
  /** Every transaction below had ended. */
  readonly xmin: number;
  /** None from here on had ended. */
  readonly xmax: number;
  /** Those in between that had not. */
  readonly running: ReadonlySet<number>;
}

const FORM = /^([0-9]{1,15}):([0-9]{1,15}):((?:[0-9]{1,15}(?:,[0-9]{1,15})*)?)$/;

/** Undefined when the text is no snapshot. */
export function parseSnapshot(text: string): Snapshot | undefined {
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const [, xmin = "", xmax = "", running = ""] = match;
  const ids = running === "" ? [] : running.split(",").map(Number);
  return { text, xmin: Number(xmin), xmax: Number(xmax), running: new Set(ids) };
}

/** Whether the transaction had ended by then. */
export function sees(snapshot: Snapshot, xid: number): boolean {
  return xid < snapshot.xmin || (xid < snapshot.xmax && !snapshot.running.has(xid));
}

/** Whether everything that had ended at `then` had ended at `now`. */
export function covers(now: Snapshot, then: Snapshot): boolean {
  return then.xmax <= now.xmax && [...now.running].every((xid) => xid >= then.xmax || then.running.has(xid));
}
