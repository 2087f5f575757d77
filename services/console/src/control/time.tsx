import { formatDuration } from "../format/duration.js";
import { formatRfc3339, formatTime } from "../format/time.js";
import { useNow, usePreferences } from "../app/app.js";

const MINUTE_MS = 60_000;

/** Time, short; in full on hover. */
export function Time({ timeMs }: { readonly timeMs: number | undefined }) {
  const { zone } = usePreferences();
  const nowMs = useNow(MINUTE_MS);
  if (timeMs === undefined) return <span>–</span>;
  const full = formatRfc3339(timeMs, zone);
  return (
    <time dateTime={new Date(timeMs).toISOString()} title={full}>
      {formatTime(timeMs, nowMs, zone)}
    </time>
  );
}

/** Duration, ms; without an end it runs on from `sinceMs`. */
export function Duration({ durationMs, sinceMs }: { readonly durationMs?: number | undefined; readonly sinceMs?: number | undefined }) {
  if (durationMs !== undefined) return <span>{formatDuration(durationMs)}</span>;
  return sinceMs === undefined ? <span>–</span> : <RunningDuration sinceMs={sinceMs} />;
}

function RunningDuration({ sinceMs }: { readonly sinceMs: number }) {
  return <span>{formatDuration(useNow() - sinceMs)}</span>;
}
