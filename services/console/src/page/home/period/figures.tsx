import type { GetOverviewResponseJson, PhaseTotalsJson } from "@flyte-ts/idl/flytets/admin/v1/overview_pb";
import { formatCount } from "../../../format/count.js";
import { formatDuration, readDurationMs } from "../../../format/duration.js";
import styles from "./figures.module.css";

const MAX_OPEN = 10_000;

/** Numbers of a period. */
export function Figures({ overview, period }: { readonly overview: GetOverviewResponseJson; readonly period: string }) {
  const { open = 0, period: totals, previousPeriod, waits = [], medianStartDelay, p99StartDelay, truncated } = overview;
  const waiting = waits.reduce((sum, { count = 0 }) => sum + count, 0);
  const share = succeededPercent(totals);
  const before = succeededPercent(previousPeriod);
  const median = readDurationMs(medianStartDelay);
  const p99 = readDurationMs(p99StartDelay);
  return (
    <dl className={styles.figures}>
      <Figure
        name="Running now"
        value={open >= MAX_OPEN ? `${formatCount(MAX_OPEN)}+` : formatCount(open)}
        note={waiting > 0 ? `${formatCount(waiting)} wait` : ""}
      />
      <Figure name={`Ended, ${period}`} value={`${formatCount(endedOf(totals))}${truncated === true ? "+" : ""}`} />
      <Figure
        name="Succeeded"
        value={share === undefined ? "–" : `${share.toFixed(1)} %`}
        note={share === undefined || before === undefined || truncated === true ? "" : formatChange(share - before)}
      />
      <Figure
        name="Median start delay"
        value={median === undefined ? "–" : formatDuration(median)}
        note={p99 === undefined ? "" : `p99 ${formatDuration(p99)}`}
      />
    </dl>
  );
}

function endedOf({ succeeded = 0, failed = 0, aborted = 0 }: PhaseTotalsJson = {}): number {
  return succeeded + failed + aborted;
}

/** Share of the ended executions that succeeded, percent; undefined when none has ended. */
function succeededPercent(totals: PhaseTotalsJson | undefined): number | undefined {
  const ended = endedOf(totals);
  return ended === 0 ? undefined : ((totals?.succeeded ?? 0) * 100) / ended;
}

function formatChange(change: number): string {
  const text = Math.abs(change).toFixed(1);
  return text === "0.0" ? "as before" : `${change < 0 ? "−" : "+"}${text}`;
}

function Figure({ name, value, note = "" }: { readonly name: string; readonly value: string; readonly note?: string }) {
  return (
    <div className={styles.figure}>
      <dt>{name}</dt>
      <dd>
        {value} {note !== "" && <small>{note}</small>}
      </dd>
    </div>
  );
}
