import type { LaunchPlanJson } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { Link } from "@tanstack/react-router";
import type { Scope } from "../api/scope.js";
import { Empty } from "../control/error-panel.js";
import { Icon } from "../control/icon.js";
import { Code, Pill } from "../control/pill.js";
import { type Column, Table } from "../control/table.js";
import { Time } from "../control/time.js";
import { readTimeMs } from "../format/time.js";
import { SCOPE_PATH } from "../frame/navigation.js";
import styles from "./cells.module.css";
import { isActive, scheduleText } from "./schedule-text.js";

/** Versions of launch plans with their schedule and state. */
export function PlanTable({ scope, plans }: { readonly scope: Scope; readonly plans: readonly LaunchPlanJson[] }) {
  if (plans.length === 0) return <Empty title="There are no launch plans" />;
  const name: Column<LaunchPlanJson> = {
    id: "name",
    title: "Launch plan",
    track: "minmax(24ch, 1.4fr)",
    card: "middle",
    cell: ({ id }) => (
      <Link to={`${SCOPE_PATH}/launchPlans/$name`} params={{ ...scope, name: id?.name ?? "" }} className={styles.name}>
        {id?.name}
      </Link>
    ),
  };
  return (
    <Table
      label="Launch plans"
      columns={[name, ...PLAN_COLUMNS]}
      rows={plans}
      rowId={({ id }) => `${id?.name ?? ""}:${id?.version ?? ""}`}
    />
  );
}

/** Columns of versions of launch plans, without their names. */
export const PLAN_COLUMNS: readonly Column<LaunchPlanJson>[] = [
  { id: "version", title: "Version", track: "minmax(24ch, 1fr)", card: "bottomLeft", cell: ({ id }) => <Code>{id?.version}</Code> },
  {
    id: "state",
    title: "State",
    track: "minmax(12ch, 0.5fr)",
    card: "topLeft",
    cell: (plan) => (isActive(plan) ? <Pill kind="ok">active</Pill> : <Pill>inactive</Pill>),
  },
  {
    id: "schedule",
    title: "Schedule",
    track: "minmax(18ch, 1fr)",
    card: "bottomRight",
    cell: (plan) => {
      const text = scheduleText(plan);
      return (
        text !== undefined && (
          <span className={styles.soft}>
            <Icon name="calendar" small /> {text}
          </span>
        )
      );
    },
  },
  {
    id: "created",
    title: "Registered",
    track: "minmax(14ch, 0.5fr)",
    card: "topRight",
    cell: ({ closure }) => <Time timeMs={readTimeMs(closure?.createdAt)} />,
  },
];
