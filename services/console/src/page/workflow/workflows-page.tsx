import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { PhaseMark } from "../../control/phase-mark.js";
import { RunStrip } from "../../control/run-strip.js";
import type { Column } from "../../control/table.js";
import { Time } from "../../control/time.js";
import { NameList } from "../../entity/name-list.js";
import { runsQuery } from "../../entity/queries.js";
import { formatDuration } from "../../format/duration.js";
import { SCOPE_PATH } from "../../frame/navigation.js";
import { namesQuery } from "../../frame/queries.js";
import { usePageTitle } from "../../frame/use-page-title.js";
import { useScope } from "../../frame/use-scope.js";
import { listSearch } from "../../route/list-search.js";
import { useApp } from "../../app/app.js";
import { type WorkflowRuns, workflowRuns } from "../home/summary.js";
import styles from "./workflows-page.module.css";

const route = getRouteApi("/projects/$project/domains/$domain/workflows");

interface WorkflowRow {
  readonly name: string;
  readonly runs: WorkflowRuns | undefined;
}

/** Workflows of a project and domain with their latest runs. */
export function WorkflowsPage() {
  const app = useApp();
  const scope = useScope();
  const navigate = useNavigate();
  const search = listSearch.read(route.useSearch());
  const names = useQuery(namesQuery(app, scope, "workflow"));
  const recent = useQuery(runsQuery(app, scope));
  usePageTitle("Workflows");
  const runs = new Map(workflowRuns(recent.data ?? []).map((each) => [each.workflow, each]));
  const rows = names.data?.entities?.map(({ name = "" }): WorkflowRow => ({ name, runs: runs.get(name) }));
  const columns: readonly Column<WorkflowRow>[] = [
    {
      id: "name",
      title: "Workflow",
      track: "minmax(28ch, 2fr)",
      card: "middle",
      cell: ({ name }) => (
        <Link to={`${SCOPE_PATH}/workflows/$name`} params={{ ...scope, name }} className={styles.name}>
          {name}
        </Link>
      ),
    },
    ...runColumns,
  ];
  return (
    <NameList
      title="Workflows"
      columns={columns}
      rows={rows}
      rowId={({ name }) => name}
      error={names.error}
      text={search.text}
      none={<p>Register some: pyflyte register .</p>}
      onText={(text) => void navigate({ to: ".", search: listSearch.write({ ...search, text }), replace: true })}
      onRetry={() => void names.refetch()}
    />
  );
}

const runColumns: readonly Column<WorkflowRow>[] = [
  {
    id: "runs",
    title: "Last runs",
    track: "minmax(20ch, 1fr)",
    card: "bottomLeft",
    cell: ({ runs }) => runs !== undefined && <div className={styles.strip}>{<RunStrip runs={runs.runs} />}</div>,
  },
  {
    id: "succeeded",
    title: "Succeeded",
    track: "minmax(12ch, 0.4fr)",
    end: true,
    cell: ({ runs }) => (runs?.succeeded === undefined ? "–" : `${Math.round(runs.succeeded * 100)} %`),
  },
  {
    id: "median",
    title: "Median",
    track: "minmax(10ch, 0.4fr)",
    end: true,
    card: "bottomRight",
    cell: ({ runs }) => (runs?.medianMs === undefined ? "–" : formatDuration(runs.medianMs)),
  },
  {
    id: "phase",
    title: "Last run",
    track: "minmax(14ch, 0.5fr)",
    card: "topLeft",
    cell: ({ runs }) => runs !== undefined && <PhaseMark look={runs.last.look} />,
  },
  {
    id: "last",
    title: "Started",
    track: "minmax(12ch, 0.5fr)",
    card: "topRight",
    cell: ({ runs }) => <Time timeMs={runs?.last.createdMs} />,
  },
];
