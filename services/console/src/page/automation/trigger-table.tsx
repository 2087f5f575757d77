import { Link } from "@tanstack/react-router";
import type { TriggerJson } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import type { Scope } from "../../api/scope.js";
import { Button } from "../../control/button.js";
import { Empty } from "../../control/error-panel.js";
import { Code, Pill } from "../../control/pill.js";
import { type Column, Table } from "../../control/table.js";
import cells from "../../entity/cells.module.css";
import { isGiven } from "../../format/given.js";
import { SCOPE_PATH } from "../../frame/navigation.js";
import { useRights } from "../../frame/use-role.js";
import styles from "./automation.module.css";
import { isPaused, sourceText } from "./trigger-text.js";
import type { TriggerActs } from "./use-trigger-acts.js";

interface TriggerTableProps {
  readonly scope: Scope;
  readonly triggers: readonly TriggerJson[];
  readonly acts: TriggerActs;
}

/** Triggers with their source, target and state. */
export function TriggerTable({ scope, triggers, acts }: TriggerTableProps) {
  const { refusal } = useRights(scope);
  const refused = refusal("contributor");
  if (triggers.length === 0)
    return (
      <Empty title="There are no triggers">
        <p>A trigger starts a launch plan when another execution ends or a webhook arrives.</p>
      </Empty>
    );
  const columns: readonly Column<TriggerJson>[] = [
    { id: "name", title: "Trigger", track: "minmax(18ch, 1fr)", card: "middle", cell: ({ id }) => <Code>{id?.name}</Code> },
    {
      id: "state",
      title: "State",
      track: "minmax(10ch, 0.4fr)",
      card: "topLeft",
      cell: (trigger) => (isPaused(trigger) ? <Pill>paused</Pill> : <Pill kind="ok">active</Pill>),
    },
    { id: "when", title: "Fires when", track: "minmax(24ch, 1.5fr)", card: "bottomLeft", cell: (trigger) => sourceText(trigger) },
    {
      id: "starts",
      title: "Starts",
      track: "minmax(20ch, 1fr)",
      cell: ({ launchPlan }) => (
        <Link to={`${SCOPE_PATH}/launchPlans/$name`} params={{ ...scope, name: launchPlan?.name ?? "" }} className={cells.name}>
          {launchPlan?.name}
        </Link>
      ),
    },
    {
      id: "acts",
      title: "Acts",
      hiddenTitle: true,
      track: "minmax(26ch, 0.6fr)",
      card: "bottomRight",
      cell: (trigger) => (
        <span className={styles.acts}>
          <Button small kind="quiet" refused={refused} onClick={() => acts.setActive(trigger, isPaused(trigger))}>
            {isPaused(trigger) ? "Resume" : "Pause"}
          </Button>
          {isGiven(trigger.webhook) && (
            <Button small kind="quiet" refused={refused} onClick={() => acts.rotate(trigger)}>
              New secret
            </Button>
          )}
          <Button small kind="quiet" refused={refused} onClick={() => acts.remove(trigger)}>
            Delete
          </Button>
        </span>
      ),
    },
  ];
  return <Table label="Triggers" columns={columns} rows={triggers} rowId={({ id }) => id?.name ?? ""} />;
}
