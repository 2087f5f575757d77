import { RestError } from "@flyte-ts/client/browser";
import { type ReactNode, useState } from "react";
import { ErrorPanel } from "../../../control/error-panel.js";
import { PhaseMark } from "../../../control/phase-mark.js";
import { formatDuration } from "../../../format/duration.js";
import type { PhaseLook } from "../../../format/phase.js";
import { clockTimeMs, formatTick, formatTime } from "../../../format/time.js";
import type { NodeTableClient } from "../../../node-table/node-table-client.js";
import type { OrderKind } from "../../../node-table/order/list-rows.js";
import type { NodeStateName } from "../../../node-table/table/node-state.js";
import { useApp, usePreferences } from "../../../app/app.js";
import { useTokenColours } from "../../../theme/token-colours.js";
import { useStore } from "../../../app/use-store.js";
import { Timeline } from "../../../timeline/timeline.js";
import type { TimelineProps } from "../../../timeline/timeline-props.js";
import { TIMELINE_TOKENS, timelineColours } from "./timeline-colours.js";

const LOOKS: Readonly<Record<NodeStateName, PhaseLook>> = {
  failed: { kind: "bad", word: "Failed", terminal: true },
  waiting: { kind: "ask", word: "Waits", terminal: false },
  running: { kind: "run", word: "Running", terminal: false },
  queued: { kind: "wait", word: "Queued", terminal: false },
  aborted: { kind: "stop", word: "Aborted", terminal: true },
  succeeded: { kind: "ok", word: "Succeeded", terminal: true },
  cached: { kind: "hit", word: "Cached", terminal: true },
  skipped: { kind: "wait", word: "Skipped", terminal: true },
};

interface TimelineViewProps extends Pick<TimelineProps, "titleOf"> {
  /** Noun of a row. */
  readonly noun: "node" | "item";
  readonly client: NodeTableClient;
  /** Id of the selected row; empty for none. */
  readonly selected: string;
  onSelect(id: string): void;
}

/** Nodes of an execution, or items of an array node, over time. */
export function TimelineView({ noun, client, titleOf, selected, onSelect }: TimelineViewProps) {
  const { clock } = useApp();
  const { zone } = usePreferences();
  const [order, setOrder] = useState<OrderKind>("tree");
  const colours = useTokenColours(TIMELINE_TOKENS);
  const failure = useStore(client.failure);
  if (failure !== undefined)
    return (
      <ErrorPanel
        title={`The ${noun}s cannot be followed`}
        error={new RestError(failure.code, failure.message, 0)}
        onRetry={() => client.retry()}
      />
    );
  return (
    <Timeline
      noun={noun}
      client={client}
      titleOf={titleOf}
      colours={timelineColours(colours)}
      mark={stateMark}
      formatTime={(timeMs, stepMs) => (stepMs === undefined ? formatTime(timeMs, clock.now(), zone) : formatTick(timeMs, stepMs, zone))}
      formatDuration={formatDuration}
      clockTime={(timeMs) => clockTimeMs(timeMs, zone)}
      clockSkewMs={clock.now() - Date.now()}
      order={order}
      onOrder={setOrder}
      selected={selected === "" ? undefined : selected}
      onSelect={onSelect}
    />
  );
}

function stateMark(state: NodeStateName): ReactNode {
  return <PhaseMark look={LOOKS[state]} bare />;
}
