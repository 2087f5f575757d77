import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ErrorPanel } from "../../control/error-panel.js";
import { Pill } from "../../control/pill.js";
import { Table } from "../../control/table.js";
import { ActivateButton } from "./activate-button.js";
import { EntityPage } from "../../entity/entity-page.js";
import { PLAN_COLUMNS } from "../../entity/plan-table.js";
import { planVersionsQuery, runsQuery } from "../../entity/queries.js";
import { LaunchButton } from "../../entity/launch-button.js";
import { Runs } from "../../entity/runs.js";
import { isActive, scheduleText } from "../../entity/schedule-text.js";
import { SCOPE_PATH } from "../../frame/navigation.js";
import { usePageTitle } from "../../frame/use-page-title.js";
import { useScope } from "../../frame/use-scope.js";
import { entitySearch } from "../../route/list-search.js";
import { useApp } from "../../app/app.js";
import styles from "../../entity/cells.module.css";

const route = getRouteApi("/projects/$project/domains/$domain/launchPlans/$name");

/** A launch plan: its runs and versions. */
export function LaunchPlanPage() {
  const app = useApp();
  const scope = useScope();
  const { name } = route.useParams();
  const search = entitySearch.read(route.useSearch());
  const runs = useQuery(runsQuery(app, scope, { kind: "launch_plan", name }));
  const versions = useQuery(planVersionsQuery(app, scope, name));
  usePageTitle(name);
  const error = versions.error ?? runs.error;
  if (error !== null && versions.data === undefined)
    return <ErrorPanel title={`The launch plan ${name} cannot be shown`} isPage error={error} onRetry={() => void versions.refetch()} />;
  const plan = versions.data?.find(isActive) ?? versions.data?.[0];
  const workflow = plan?.spec?.workflowId?.name;
  const schedule = plan && scheduleText(plan);
  const write = (tab: typeof search.tab) => entitySearch.write({ ...search, tab });
  return (
    <EntityPage
      kind="Launch plan"
      name={name}
      acts={
        <>
          {plan !== undefined && <ActivateButton scope={scope} plan={plan} />}
          <LaunchButton scope={scope} search={{ launchPlan: name }} />
        </>
      }
      facts={
        <>
          {plan !== undefined && (isActive(plan) ? <Pill kind="ok">active</Pill> : <Pill>inactive</Pill>)}
          {workflow !== undefined && (
            <span>
              of workflow{" "}
              <Link to={`${SCOPE_PATH}/workflows/$name`} params={{ ...scope, name: workflow }} className={styles.name}>
                {workflow}
              </Link>
            </span>
          )}
          {schedule !== undefined && <span>runs {schedule}</span>}
        </>
      }
      tab={search.tab}
      tabs={[
        { id: "runs", title: "Executions", search: write("runs") },
        { id: "versions", title: "Versions", count: versions.data && String(versions.data.length), search: write("versions") },
      ]}
    >
      {search.tab === "versions" ? (
        <Table label="Versions" columns={PLAN_COLUMNS} rows={versions.data ?? []} rowId={({ id }) => id?.version ?? ""} />
      ) : (
        <Runs rows={runs.data} />
      )}
    </EntityPage>
  );
}
