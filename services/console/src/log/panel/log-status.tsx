import { formatCount } from "../../format/count.js";
import { useEffect, useRef, useState } from "react";
import type { LiveState } from "@flyte-ts/client/browser";
import { useApp, usePreferences } from "../../app/app.js";
import { formatTime } from "../../format/time.js";
import type { LogSummary } from "../session/protocol.js";
import styles from "./log-bar.module.css";

interface LogStatusProps {
  readonly summary: LogSummary | undefined;
  readonly live: LiveState | undefined;
}

/** Minimum interval between announcements of new lines to a screen reader, ms. */
const SPEAK_MS = 2_000;

/** Number of lines, and the state of the stream. */
export function LogStatus({ summary, live }: LogStatusProps) {
  const { clock } = useApp();
  const { zone } = usePreferences();
  const lines = summary?.lines ?? 0;
  const count = `${formatCount(lines)} ${lines === 1 ? "line" : "lines"}`;
  const spoken = useSlowly(count);
  const isBroken = live?.kind === "reconnecting" && summary?.hasEnded !== true;
  return (
    <span className={styles.status}>
      {count}
      {isBroken ? (
        <b className={styles.broken}> · reconnecting since {formatTime(live.since, clock.now(), zone)}</b>
      ) : (
        summary?.isOpen === true && ` · ${summary.hasEnded ? "ended" : "live"}`
      )}
      <span className={styles.spoken} role="status">
        {spoken}
      </span>
    </span>
  );
}

/** Follows a text with a delay. */
function useSlowly(text: string): string {
  const [spoken, setSpoken] = useState(text);
  const latest = useRef(text);
  useEffect(() => {
    latest.current = text;
  }, [text]);
  useEffect(() => {
    const timer = setInterval(() => setSpoken(latest.current), SPEAK_MS);
    return () => clearInterval(timer);
  }, []);
  return spoken;
}
