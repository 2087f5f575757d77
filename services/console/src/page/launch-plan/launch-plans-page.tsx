import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Icon } from "../../control/icon.js";
import { Code, Pill } from "../../control/pill.js";
import { Segments } from "../../control/segments.js";
import type { Column } from "../../control/table.js";
import styles from "../../entity/cells.module.css";
import { NameList } from "../../entity/name-list.js";
import { activePlansQuery } from "../../entity/queries.js";
import { scheduleText } from "../../entity/schedule-text.js";
import { SCOPE_PATH } from "../../frame/navigation.js";
import { namesQuery } from "../../frame/queries.js";
import { usePageTitle } from "../../frame/use-page-title.js";
import { useScope } from "../../frame/use-scope.js";
import { listSearch } from "../../route/list-search.js";
import { useApp } from "../../app/app.js";

const route = getRouteApi("/projects/$project/domains/$domain/launchPlans");

interface PlanRow {
  readonly name: string;
  /** Active version; undefined when none is active. */
  readonly version: string | undefined;
  readonly schedule: string | undefined;
}

/** Launch plans of a project and domain with their active version and schedule. */
export function LaunchPlansPage() {
  const app = useApp();
  const scope = useScope();
  const navigate = useNavigate();
  const search = listSearch.read(route.useSearch());
  const names = useQuery(namesQuery(app, scope, "launch_plan"));
  const active = useQuery(activePlansQuery(app, scope));
  usePageTitle("Launch plans");
  const plans = new Map(active.data?.map((plan) => [plan.id?.name ?? "", plan]));
  const rows = names.data?.entities?.map(({ name = "" }): PlanRow => {
    const plan = plans.get(name);
    return { name, version: plan?.id?.version, schedule: plan && scheduleText(plan) };
  });
  const name: Column<PlanRow> = {
    id: "name",
    title: "Launch plan",
    track: "minmax(28ch, 2fr)",
    card: "middle",
    cell: ({ name: title }) => (
      <Link to={`${SCOPE_PATH}/launchPlans/$name`} params={{ ...scope, name: title }} className={styles.name}>
        {title}
      </Link>
    ),
  };
  return (
    <NameList
      title="Launch plans"
      columns={[name, ...columns]}
      rows={search.scheduled === "yes" ? rows?.filter(({ schedule }) => schedule !== undefined) : rows}
      rowId={(row) => row.name}
      error={names.error ?? active.error}
      text={search.text}
      filters={
        <Segments
          label="Launch plans"
          choices={[
            { id: "no", title: "All" },
            { id: "yes", title: "With a schedule" },
          ]}
          current={search.scheduled}
          onChoose={(scheduled) => void navigate({ to: ".", search: listSearch.write({ ...search, scheduled }) })}
        />
      }
      none={<p>Register some: pyflyte register .</p>}
      onText={(text) => void navigate({ to: ".", search: listSearch.write({ ...search, text }), replace: true })}
      onRetry={() => void names.refetch()}
    />
  );
}

const columns: readonly Column<PlanRow>[] = [
  {
    id: "state",
    title: "State",
    track: "minmax(12ch, 0.5fr)",
    card: "topLeft",
    cell: ({ version }) => (version === undefined ? <Pill>inactive</Pill> : <Pill kind="ok">active</Pill>),
  },
  { id: "version", title: "Active version", track: "minmax(24ch, 1fr)", card: "bottomLeft", cell: ({ version }) => <Code>{version}</Code> },
  {
    id: "schedule",
    title: "Schedule",
    track: "minmax(20ch, 1fr)",
    card: "bottomRight",
    cell: ({ schedule }) =>
      schedule !== undefined && (
        <span className={styles.soft}>
          <Icon name="calendar" small /> {schedule}
        </span>
      ),
  },
];
