import { countOf, formatCount } from "../../format/count.js";
import { taskTitle } from "../../format/task-title.js";
import type { RowView } from "../../node-table/session/protocol.js";
import { NodeFlag } from "../../node-table/table/node-state.js";

const SECOND_MS = 1000;
const UNITS: readonly (readonly [ms: number, name: string])[] = [
  [86_400 * SECOND_MS, "day"],
  [3_600 * SECOND_MS, "hour"],
  [60 * SECOND_MS, "minute"],
  [SECOND_MS, "second"],
];

/** Says a duration in words of its two largest units: `2 minutes 5 seconds`, `0.3 seconds`. */
export function durationWords(durationMs: number): string {
  if (durationMs < 10 * SECOND_MS) return countWords(Math.round(Math.max(durationMs, 0) / 100) / 10, "second");
  const seconds = Math.round(durationMs / SECOND_MS) * SECOND_MS;
  const first = UNITS.findIndex(([ms]) => seconds >= ms);
  const parts: string[] = [];
  let restMs = seconds;
  for (const [ms, name] of UNITS.slice(first, first + 2)) {
    const count = Math.floor(restMs / ms);
    if (count > 0) parts.push(countWords(count, name));
    restMs -= count * ms;
  }
  return parts.join(" ");
}

function countWords(count: number, name: string): string {
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}

/** Name and kind of a node that the table does not have, such as those of a gate's signal. */
export interface RowTitle {
  readonly name: string;
  readonly kind: string;
}

/**
 * Names a row by its title, its task's last part or its node's id, in this order; a group by number
 * and state.
 */
export function rowName({ isGroup, count, state, task, specId, nodeId }: RowView, title?: RowTitle): string {
  if (isGroup) return `${formatCount(count)} ${state}`;
  return title?.name || taskTitle(task) || specId || nodeId;
}

export interface RowKindOptions {
  /** Noun of the members of groups; default `nodes`. */
  readonly noun?: string | undefined;
  readonly title?: RowTitle | undefined;
}

/** Says beside the name what kind of node a row is, and its id, if that is not the name. */
export function rowKind(row: RowView, { noun = "nodes", title }: RowKindOptions = {}): string {
  const { isGroup, flags, count, state, task, specId, nodeId } = row;
  if (isGroup) return noun;
  const id = specId || nodeId;
  if (title !== undefined) return title.name === id ? title.kind : `${title.kind} · ${id}`;
  const children = count === 0 ? "" : ` · ${countOf(count, "node", "nodes")}`;
  if ((flags & NodeFlag.dynamic) !== 0) return `dynamic${children}`;
  if ((flags & NodeFlag.array) !== 0) return `map${children}`;
  if ((flags & NodeFlag.launches) !== 0) return "launch plan";
  if (state === "waiting") return "gate";
  if (count > 0) return countOf(count, "node", "nodes");
  return task === "" || id === rowName(row) ? "" : id;
}

export interface RowWordOptions {
  /** End of what has not ended, milliseconds since the creation of the execution. */
  readonly nowMs: number;
  /** Formats a time since the creation of the execution. */
  readonly timeText: (timeMs: number) => string;
}

/** Says phase, start and duration of a row, for those who do not see its bar. */
export function rowWords(row: RowView, { nowMs, timeText }: RowWordOptions): string {
  const attempts = row.attempts > 1 ? `, attempt ${row.attempts}` : "";
  const error = row.errorCode === "" ? "" : `, error ${row.errorCode}`;
  const state = `${row.state}${attempts}${error}`;
  if (row.startedMs === undefined)
    return `${state}, queued at ${timeText(row.queuedMs)}, for ${durationWords((row.endedMs ?? nowMs) - row.queuedMs)}`;
  return `${state}, started at ${timeText(row.startedMs)}, ${row.endedMs === undefined ? "running for" : "took"} ${durationWords(runMs(row, nowMs))}`;
}

/** Returns how long a row has run, ms; 0 before its start. */
export function runMs({ startedMs, endedMs }: RowView, nowMs: number): number {
  return startedMs === undefined ? 0 : Math.max((endedMs ?? nowMs) - startedMs, 0);
}

/** Figure of a row: its duration, or the number of a group's nodes; empty before it starts. */
export function rowFigure(row: RowView, nowMs: number, durationText: (durationMs: number) => string): string {
  if (row.isGroup) return formatCount(row.count);
  return row.startedMs === undefined ? "" : durationText(runMs(row, nowMs));
}
