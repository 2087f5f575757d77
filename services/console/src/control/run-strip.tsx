import type { ExecutionRow } from "../api/execution-row.js";
import { formatDuration } from "../format/duration.js";
import styles from "./run-strip.module.css";

const LEAST_HEIGHT = 0.2;

/** Latest runs of a workflow as bars: the height is the duration, the colour the end. */
export function RunStrip({ runs }: { readonly runs: readonly Pick<ExecutionRow, "key" | "look" | "durationMs">[] }) {
  const longestMs = Math.max(1, ...runs.map(({ durationMs }) => durationMs ?? 0));
  const failed = runs.filter(({ look }) => look.kind === "bad").length;
  const running = runs.filter(({ look }) => !look.terminal).length;
  const parts = [`${runs.length} runs`, ...(failed > 0 ? [`${failed} failed`] : []), ...(running > 0 ? [`${running} running`] : [])];
  return (
    <span className={styles.strip} role="img" aria-label={parts.join(", ")}>
      {runs.map(({ key, look, durationMs }) => (
        <span
          key={key.name}
          className={styles.bar}
          data-phase={look.kind}
          title={durationMs === undefined ? look.word : `${look.word} after ${formatDuration(durationMs)}`}
          style={{ height: `${Math.max(LEAST_HEIGHT, (durationMs ?? longestMs) / longestMs) * 100}%` }}
        />
      ))}
    </span>
  );
}
