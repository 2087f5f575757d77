import { type ReactNode, useEffect, useState } from "react";
import { ErrorPanel } from "../../../control/error-panel.js";
import { PhaseMark } from "../../../control/phase-mark.js";
import { formatDuration } from "../../../format/duration.js";
import type { PhaseLook } from "../../../format/phase.js";
import { formatTime } from "../../../format/time.js";
import type { NodeTableClient } from "../../../node-table/node-table-client.js";
import type { OrderKind } from "../../../node-table/order/list-rows.js";
import type { NodeStateName } from "../../../node-table/table/node-state.js";
import type { ExecutionSearch } from "../../../route/execution-search.js";
import { useApp, usePreferences } from "../../../app/app.js";
import { useTokenColours } from "../../../theme/token-colours.js";
import { useStore } from "../../../timeline/hook/use-store.js";
import { Timeline } from "../../../timeline/timeline.js";
import { markFirstRows, markComplete } from "./page-marks.js";

const TOKENS = ["ok", "run", "wait", "bad", "stop", "ask", "hit", "line", "ink-2", "selected", "hover", "accent"] as const;

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

interface TimelineViewProps {
  readonly client: NodeTableClient;
  readonly search: ExecutionSearch;
  onChange(next: Partial<ExecutionSearch>): void;
}

/** Nodes of an execution over time. */
export function TimelineView({ client, search, onChange }: TimelineViewProps) {
  const { clock } = useApp();
  const { zone } = usePreferences();
  const [order, setOrder] = useState<OrderKind>("tree");
  const colours = useTokenColours(TOKENS);
  const failure = useStore(client.failure);
  const hasRows = (useStore(client.shown)?.rows.length ?? 0) > 0;
  const isComplete = useStore(client.summary)?.isComplete === true;
  useEffect(() => {
    if (hasRows) markFirstRows();
    if (hasRows && isComplete) markComplete();
  }, [hasRows, isComplete]);
  if (failure !== undefined) return <ErrorPanel title="The nodes cannot be followed" error={new Error(failure.message)} />;
  return (
    <Timeline
      client={client}
      colours={{
        states: {
          failed: colours.bad,
          waiting: colours.ask,
          running: colours.run,
          queued: colours.wait,
          aborted: colours.stop,
          succeeded: colours.ok,
          cached: colours.hit,
          skipped: colours.wait,
        },
        line: colours.line,
        ink: colours["ink-2"],
        selected: colours.selected,
        hover: colours.hover,
        accent: colours.accent,
        font: getComputedStyle(document.documentElement).getPropertyValue("--canvas-font"),
      }}
      mark={stateMark}
      formatTime={(timeMs) => formatTime(timeMs, clock.now(), zone)}
      formatDuration={formatDuration}
      clockSkewMs={clock.now() - Date.now()}
      order={order}
      onOrder={setOrder}
      selected={search.node === "" ? undefined : search.node}
      onSelect={(node) => onChange({ node, attempt: "", item: "" })}
    />
  );
}

function stateMark(state: NodeStateName): ReactNode {
  return <PhaseMark look={LOOKS[state]} bare />;
}
