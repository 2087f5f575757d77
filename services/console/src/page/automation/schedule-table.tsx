import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { LaunchPlanJson } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import type { NextRunJson } from "@flyte-ts/idl/flytets/admin/v1/schedule_pb";
import type { Scope } from "../../api/scope.js";
import { useApp } from "../../app/app.js";
import { Button } from "../../control/button.js";
import { Empty } from "../../control/error-panel.js";
import { Code } from "../../control/pill.js";
import { type Column, Table } from "../../control/table.js";
import { Time } from "../../control/time.js";
import cells from "../../entity/cells.module.css";
import { scheduleText } from "../../entity/schedule-text.js";
import { readTimeMs } from "../../format/time.js";
import { SCOPE_PATH } from "../../frame/navigation.js";
import { useRights } from "../../frame/use-role.js";

interface ScheduleTableProps {
  readonly scope: Scope;
  /** Active launch plans with a schedule. */
  readonly plans: readonly LaunchPlanJson[];
  /** Next runs, earliest first. */
  readonly runs: readonly NextRunJson[];
}

/** Active schedules with their next runs. */
export function ScheduleTable({ scope, plans, runs }: ScheduleTableProps) {
  const { api, toasts } = useApp();
  const queries = useQueryClient();
  const { refusal } = useRights(scope);
  const deactivate = useMutation({
    mutationFn: (plan: LaunchPlanJson) => api.automation.setPlanState(plan.id ?? {}, false),
    onSuccess: async (_, { id }) => {
      toasts.show({ kind: "ok", text: `Deactivated ${id?.name ?? ""}` });
      await queries.invalidateQueries({ queryKey: ["active launch plans", scope] });
    },
    onError: (error, { id }) => toasts.show({ kind: "bad", text: `${id?.name ?? ""} cannot be deactivated: ${error.message}` }),
  });
  if (plans.length === 0)
    return (
      <Empty title="No launch plan runs on a schedule">
        <p>Register a launch plan with a schedule and activate it on its page.</p>
      </Empty>
    );
  const next = new Map(runs.toReversed().map((run) => [run.launchPlan?.name ?? "", readTimeMs(run.scheduledAt)]));
  const columns: readonly Column<LaunchPlanJson>[] = [
    {
      id: "name",
      title: "Launch plan",
      track: "minmax(24ch, 1.5fr)",
      card: "middle",
      cell: ({ id }) => (
        <Link to={`${SCOPE_PATH}/launchPlans/$name`} params={{ ...scope, name: id?.name ?? "" }} className={cells.name}>
          {id?.name}
        </Link>
      ),
    },
    { id: "version", title: "Version", track: "minmax(16ch, 1fr)", cell: ({ id }) => <Code>{id?.version}</Code> },
    { id: "schedule", title: "Schedule", track: "minmax(16ch, 1fr)", card: "bottomLeft", cell: (plan) => scheduleText(plan) },
    {
      id: "next",
      title: "Next run",
      track: "minmax(14ch, 0.6fr)",
      card: "topLeft",
      cell: ({ id }) => <Time timeMs={next.get(id?.name ?? "")} />,
    },
    {
      id: "acts",
      title: "Acts",
      hiddenTitle: true,
      track: "minmax(14ch, 0.4fr)",
      card: "bottomRight",
      cell: (plan) => (
        <Button small kind="quiet" refused={refusal("contributor")} onClick={() => deactivate.mutate(plan)}>
          Deactivate
        </Button>
      ),
    },
  ];
  return <Table label="Schedules" columns={columns} rows={plans} rowId={({ id }) => id?.name ?? ""} />;
}
