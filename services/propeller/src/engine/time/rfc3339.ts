/** Time in the resource's format: RFC 3339, UTC, whole seconds (as Kubernetes writes its times). */
export function rfc3339Seconds(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastText = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`;
  }
  return lastText;
}

// Many nodes change within one second, and formatting a date is most of the cost of a change.
let lastSecond = Number.NaN;
let lastText = "";

/** Time with milliseconds, for fields that Kubernetes does not read. */
export function rfc3339Millis(ms: number): string {
  if (ms !== lastMs) {
    lastMs = ms;
    lastMsText = new Date(ms).toISOString();
  }
  return lastMsText;
}

// The changes of one reconcile have the same time.
let lastMs = Number.NaN;
let lastMsText = "";

/** Milliseconds since the epoch; undefined for an absent or malformed time. */
export function fromRfc3339(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

/**
 * Event time, for admin, of a change that the status dates in whole seconds: the latest possible
 * moment, so that it follows its causes, but not later than `now`. Undefined for an absent or
 * malformed time.
 */
export function republishedAtMs(text: string | undefined, now: number): number | undefined {
  const latest = latestPossibleMs(text);
  return latest === undefined ? undefined : Math.min(latest, now);
}

/**
 * Latest moment that a time in whole seconds may represent. Deadlines restored from a status use
 * it, so that a restart never makes them early.
 */
export function latestPossibleMs(text: string | undefined): number | undefined {
  const ms = fromRfc3339(text);
  if (ms === undefined || text === undefined) return undefined;
  return text.includes(".") ? ms : ms + 999;
}
