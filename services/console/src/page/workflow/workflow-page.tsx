import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { ErrorPanel } from "../../control/error-panel.js";
import { Table } from "../../control/table.js";
import { Time } from "../../control/time.js";
import { EntityPage } from "../../entity/entity-page.js";
import { interfaceText } from "../../entity/interface-text.js";
import { PlanTable } from "../../entity/plan-table.js";
import { runsQuery, workflowPlansQuery, workflowVersionsQuery } from "../../entity/queries.js";
import { LaunchButton } from "../../entity/launch-button.js";
import { Runs } from "../../entity/runs.js";
import { VERSION_COLUMNS, type VersionRow } from "../../entity/version-columns.js";
import { readTimeMs } from "../../format/time.js";
import { usePageTitle } from "../../frame/use-page-title.js";
import { useScope } from "../../frame/use-scope.js";
import { entitySearch } from "../../route/list-search.js";
import { useApp } from "../../app/app.js";

/** Loaded when it is opened. */
const WorkflowGraph = lazy(() => import("./workflow-graph.js").then(({ WorkflowGraph: component }) => ({ default: component })));

const route = getRouteApi("/projects/$project/domains/$domain/workflows/$name");

/** A workflow: its runs, versions and launch plans. */
export function WorkflowPage() {
  const app = useApp();
  const scope = useScope();
  const { name } = route.useParams();
  const search = entitySearch.read(route.useSearch());
  const runs = useQuery(runsQuery(app, scope, { kind: "workflow", name }));
  const versions = useQuery(workflowVersionsQuery(app, scope, name));
  const plans = useQuery(workflowPlansQuery(app, scope, name));
  usePageTitle(name);
  const error = versions.error ?? runs.error ?? plans.error;
  if (error !== null && versions.data === undefined)
    return <ErrorPanel title={`The workflow ${name} cannot be shown`} isPage error={error} onRetry={() => void versions.refetch()} />;
  const rows = versions.data?.map(
    ({ id, closure, shortDescription = "" }): VersionRow => ({
      version: id?.version ?? "",
      createdMs: readTimeMs(closure?.createdAt),
      text: shortDescription === "" ? interfaceText(closure?.compiledWorkflow?.primary?.template?.interface) : shortDescription,
    }),
  );
  const version = search.version === "" ? rows?.[0]?.version : search.version;
  const write = (tab: typeof search.tab) => entitySearch.write({ ...search, tab });
  return (
    <EntityPage
      kind="Workflow"
      name={name}
      acts={<LaunchButton scope={scope} search={{ workflow: name }} />}
      facts={
        rows?.[0] !== undefined && (
          <span>
            Latest version <bdi>{rows[0].version}</bdi> of <Time timeMs={rows[0].createdMs} />
          </span>
        )
      }
      tab={search.tab}
      tabs={[
        { id: "runs", title: "Executions", search: write("runs") },
        { id: "versions", title: "Versions", count: rows && String(rows.length), search: write("versions") },
        { id: "plans", title: "Launch plans", search: write("plans") },
        { id: "graph", title: "Graph", search: write("graph") },
      ]}
    >
      {search.tab === "runs" && <Runs rows={runs.data} />}
      {search.tab === "versions" && <Table label="Versions" columns={VERSION_COLUMNS} rows={rows ?? []} rowId={({ version }) => version} />}
      {search.tab === "plans" && <PlanTable scope={scope} plans={plans.data ?? []} />}
      {search.tab === "graph" && version !== undefined && (
        <Suspense>
          <WorkflowGraph scope={scope} name={name} version={version} />
        </Suspense>
      )}
    </EntityPage>
  );
}
