import type { NodeExecutionJson } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import { PhaseMark } from "../../control/phase-mark.js";
import { Pill } from "../../control/pill.js";
import type { Column } from "../../control/table.js";
import { Duration, Time } from "../../control/time.js";
import { readDurationMs } from "../../format/duration.js";
import { nodePhaseLook, type PhaseLook } from "../../format/phase.js";
import { readTimeMs } from "../../format/time.js";

export interface NodeRow {
  readonly id: string;
  readonly look: PhaseLook;
  readonly cached: boolean;
  readonly createdMs: number | undefined;
  readonly startedMs: number | undefined;
  readonly durationMs: number | undefined;
  readonly error: string;
}

/** Marks of the graph's beginning and end, which run nothing. */
const MARKERS = ["start-node", "end-node"];

/** Returns the nodes that run something, in their order. */
export function nodeRows(nodes: readonly NodeExecutionJson[]): readonly NodeRow[] {
  return nodes
    .filter(({ id }) => !MARKERS.includes(id?.nodeId ?? ""))
    .map(({ id, closure }) => {
      const look = nodePhaseLook(closure?.phase);
      return {
        id: id?.nodeId ?? "",
        look,
        cached: closure?.taskNodeMetadata?.cacheStatus === "CACHE_HIT",
        createdMs: readTimeMs(closure?.createdAt),
        startedMs: readTimeMs(closure?.startedAt),
        durationMs: look.terminal ? (readDurationMs(closure?.duration) ?? 0) : undefined,
        error: closure?.error?.code ?? "",
      };
    });
}

export const nodeColumns: readonly Column<NodeRow>[] = [
  { id: "phase", title: "Phase", track: "minmax(14ch, 0.5fr)", card: "topLeft", cell: ({ look }) => <PhaseMark look={look} /> },
  {
    id: "node",
    title: "Node",
    track: "minmax(24ch, 2fr)",
    card: "middle",
    cell: ({ id, cached, error }) => (
      <>
        {id}
        {cached && <Pill>cached</Pill>}
        {error !== "" && <Pill kind="bad">{error}</Pill>}
      </>
    ),
  },
  {
    id: "started",
    title: "Started",
    track: "minmax(12ch, 0.5fr)",
    card: "bottomLeft",
    cell: ({ startedMs, createdMs }) => <Time timeMs={startedMs ?? createdMs} />,
  },
  {
    id: "duration",
    title: "Duration",
    track: "minmax(10ch, 0.5fr)",
    end: true,
    card: "topRight",
    cell: ({ durationMs, startedMs }) => <Duration durationMs={durationMs} sinceMs={startedMs} />,
  },
];
