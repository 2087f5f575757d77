import type { BucketJson } from "@flyte-ts/idl/flytets/admin/v1/overview_pb";
import { usePreferences } from "../../../app/app.js";
import type { PhaseKind } from "../../../format/phase.js";
import { formatTime } from "../../../format/time.js";
import { bars, SHOWN_KINDS } from "./bars.js";
import styles from "./executions-chart.module.css";

interface ExecutionsChartProps {
  readonly buckets: readonly BucketJson[];
  readonly bucketMs: number;
  readonly endMs: number;
  readonly count: number;
}

const HEIGHT = 100;
const GAP = 0.15;
const LABELS = 4;

/** Executions by time of creation, and within it by what became of them. */
export function ExecutionsChart({ buckets, bucketMs, endMs, count }: ExecutionsChartProps) {
  const { zone } = usePreferences();
  const { columns, top, startMs } = bars(buckets, { bucketMs, endMs, count });
  const total = columns.reduce((sum, { total: of }) => sum + of, 0);
  const labels = Array.from({ length: LABELS }, (_, index) => startMs + Math.floor((index * count) / LABELS) * bucketMs);
  return (
    <figure className={styles.chart}>
      <span className={styles.scale} aria-hidden="true">
        <span>{top}</span>
        <span>0</span>
      </span>
      <svg
        className={styles.bars}
        viewBox={`0 0 ${count} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${total} executions by time of creation`}
      >
        {columns.map(({ index, parts }) =>
          parts.map(({ kind, from, to }) => (
            <rect
              key={`${index} ${kind}`}
              data-phase={phaseOf(kind)}
              x={index + GAP / 2}
              width={1 - GAP}
              y={HEIGHT - (to / top) * HEIGHT}
              height={((to - from) / top) * HEIGHT}
            />
          )),
        )}
      </svg>
      <span className={styles.times} aria-hidden="true">
        {labels.map((timeMs) => (
          <span key={timeMs}>{formatTime(timeMs, endMs, zone).replace(/(:\d\d):\d\d$/, "$1")}</span>
        ))}
      </span>
      <figcaption className={styles.legend}>
        {SHOWN_KINDS.map(({ kind, phase, title }) => (
          <span key={kind} className={styles.key}>
            <i data-phase={phase} />
            {title}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

function phaseOf(shown: (typeof SHOWN_KINDS)[number]["kind"]): PhaseKind | undefined {
  return SHOWN_KINDS.find(({ kind }) => kind === shown)?.phase;
}
