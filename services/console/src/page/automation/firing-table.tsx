import { Link } from "@tanstack/react-router";
import type { FiringJson } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import type { Scope } from "../../api/scope.js";
import { Empty } from "../../control/error-panel.js";
import { Code, Pill } from "../../control/pill.js";
import { type Column, Table } from "../../control/table.js";
import { Time } from "../../control/time.js";
import cells from "../../entity/cells.module.css";
import { readTimeMs } from "../../format/time.js";
import { SCOPE_PATH } from "../../frame/navigation.js";

/** Latest firings of triggers, with the reason of those that started nothing. */
export function FiringTable({ scope, firings }: { readonly scope: Scope; readonly firings: readonly FiringJson[] }) {
  if (firings.length === 0) return <Empty title="No trigger has fired yet" />;
  const columns: readonly Column<FiringJson>[] = [
    { id: "trigger", title: "Trigger", track: "minmax(16ch, 1fr)", card: "middle", cell: ({ trigger }) => <Code>{trigger?.name}</Code> },
    { id: "state", title: "State", track: "minmax(10ch, 0.4fr)", card: "topLeft", cell: stateOf },
    {
      id: "at",
      title: "Time",
      track: "minmax(14ch, 0.5fr)",
      card: "topRight",
      cell: ({ createdAt }) => <Time timeMs={readTimeMs(createdAt)} />,
    },
    {
      id: "started",
      title: "Execution",
      track: "minmax(20ch, 1fr)",
      card: "bottomLeft",
      cell: ({ state, started }) =>
        state === "FIRING_STATE_STARTED" && (
          <Link to={`${SCOPE_PATH}/executions/$name`} params={{ ...scope, name: started?.name ?? "" }} className={cells.name}>
            <Code>{started?.name}</Code>
          </Link>
        ),
    },
    {
      id: "reason",
      title: "Reason",
      track: "minmax(20ch, 2fr)",
      card: "bottomRight",
      cell: ({ reason }) => <span className={cells.text}>{reason}</span>,
    },
  ];
  return (
    <Table
      label="Firings"
      columns={columns}
      rows={firings}
      rowId={({ trigger, started }) => `${trigger?.name ?? ""} ${started?.name ?? ""}`}
    />
  );
}

function stateOf({ state }: FiringJson) {
  if (state === "FIRING_STATE_STARTED") return <Pill kind="ok">started</Pill>;
  return state === "FIRING_STATE_REFUSED" ? <Pill kind="bad">refused</Pill> : <Pill kind="wait">waits</Pill>;
}
