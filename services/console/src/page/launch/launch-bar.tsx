import type { ExecutionRow } from "../../api/execution-row.js";
import { Button } from "../../control/button.js";
import { Key, Pill } from "../../control/pill.js";
import { formatDuration } from "../../format/duration.js";
import styles from "./launch-bar.module.css";

const JUDGED_RUNS = 20;
const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

interface LaunchBarProps {
  readonly problems: number;
  readonly uploads: number;
  readonly refused: string | undefined;
  readonly isPending: boolean;
  readonly runs: readonly ExecutionRow[];
}

/** Button that launches, and what keeps it from doing so. */
export function LaunchBar({ problems, uploads, refused, isPending, runs }: LaunchBarProps) {
  return (
    <footer className={styles.bar}>
      <Button type="submit" kind="primary" icon="run" refused={refused} disabled={isPending}>
        Launch
      </Button>
      <span role="status" className={styles.state}>
        {problems > 0 && <Pill kind="bad">{`${problems} ${problems === 1 ? "value" : "values"} to put right`}</Pill>}
        {uploads > 0 && <Pill kind="run">{`${uploads} ${uploads === 1 ? "upload" : "uploads"} under way`}</Pill>}
      </span>
      <span className={styles.hint}>
        <Key>{isMac ? "⌘" : "Ctrl"}</Key> <Key>↵</Key> launches · this page's address holds what you have entered
      </span>
      <span className={styles.usual}>{usualText(runs)}</span>
    </footer>
  );
}

/** Median of the latest runs that succeeded. */
function usualText(runs: readonly ExecutionRow[]): string {
  const durations = runs
    .flatMap(({ look, durationMs }) => (look.kind === "ok" && durationMs !== undefined ? [durationMs] : []))
    .slice(0, JUDGED_RUNS)
    .toSorted((a, b) => a - b);
  const median = durations[Math.floor(durations.length / 2)];
  if (median === undefined) return "";
  return `About ${formatDuration(median)}, judged by the last ${durations.length === 1 ? "run" : `${durations.length} runs`}`;
}
