import { classes } from "../../control/classes.js";
import { formatDuration } from "../../format/duration.js";
import { formatRfc3339 } from "../../format/time.js";
import type { LogLine } from "../session/protocol.js";
import { plainLevel, readJsonLine } from "../text/json-line.js";
import type { LogPattern } from "../text/log-pattern.js";
import { LineText } from "./line-text.js";
import styles from "./line.module.css";

export type TimeChoice = "off" | "relative" | "local";

interface LineProps {
  /** From 0; undefined while it is not known. */
  readonly at: number | undefined;
  /** Undefined while it is on its way. */
  readonly line: LogLine | undefined;
  readonly firstMs: number | undefined;
  readonly times: TimeChoice;
  readonly zone: string;
  readonly pattern: LogPattern | undefined;
  /** The address or the search points at it. */
  readonly isMarked: boolean;
  readonly isOpen: boolean;
  onLink(at: number): void;
  onToggle(at: number): void;
}

/** One line of a log. */
export function Line({ at, line, firstMs, times, zone, pattern, isMarked, isOpen, onLink, onToggle }: LineProps) {
  const text = line?.text ?? "";
  const json = readJsonLine(text);
  const level = json === undefined ? plainLevel(text) : json.level;
  return (
    <div className={classes(styles.line, level && styles[level], isMarked && styles.marked)}>
      {at === undefined ? (
        <span className={styles.number} />
      ) : (
        <button type="button" className={styles.number} tabIndex={-1} aria-label={`Link to line ${at + 1}`} onClick={() => onLink(at)}>
          {at + 1}
        </button>
      )}
      {times !== "off" && <span className={styles.time}>{timeText(line?.timeMs, { times, zone, firstMs })}</span>}
      <span className={styles.text}>
        {json === undefined ? (
          <LineText text={text} pattern={pattern} />
        ) : (
          <>
            <button type="button" className={styles.opener} aria-expanded={isOpen} onClick={() => at !== undefined && onToggle(at)}>
              {json.level ?? "json"}
            </button>
            <LineText text={json.message} pattern={pattern} />
            {isOpen && (
              <span className={styles.whole}>
                <LineText text={json.whole} pattern={pattern} />
              </span>
            )}
          </>
        )}
      </span>
    </div>
  );
}

interface TimeLook {
  readonly times: TimeChoice;
  readonly zone: string;
  readonly firstMs: number | undefined;
}

/** Formats a time as `01:18:19.204`, or as the time since the first line. */
function timeText(timeMs: number | undefined, { times, zone, firstMs }: TimeLook): string {
  if (timeMs === undefined) return "";
  return times === "relative" ? `+${formatDuration(timeMs - (firstMs ?? timeMs))}` : formatRfc3339(timeMs, zone).slice(11, 23);
}
