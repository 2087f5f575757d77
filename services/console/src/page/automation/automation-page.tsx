import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useApp } from "../../app/app.js";
import { Button } from "../../control/button.js";
import { ErrorPanel } from "../../control/error-panel.js";
import { ListPage } from "../../control/list-page.js";
import { Tabs } from "../../control/tabs.js";
import { activePlansQuery } from "../../entity/queries.js";
import { scheduleText } from "../../entity/schedule-text.js";
import { useRights } from "../../frame/use-role.js";
import { usePageTitle } from "../../frame/use-page-title.js";
import { useScope } from "../../frame/use-scope.js";
import { AUTOMATION_TABS, automationSearch } from "../../route/automation-search.js";
import { FiringTable } from "./firing-table.js";
import { firingsQuery, nextRunsQuery, triggersQuery } from "./queries.js";
import { ScheduleTable } from "./schedule-table.js";
import { SecretDialog } from "./secret-dialog.js";
import { TriggerDialog } from "./trigger-dialog.js";
import { TriggerTable } from "./trigger-table.js";
import { type ToldSecret, useTriggerActs } from "./use-trigger-acts.js";

const route = getRouteApi("/projects/$project/domains/$domain/automation");
const TITLES = { schedules: "Schedules", triggers: "Triggers", firings: "Firings" } as const;

/** Lists what starts executions by itself, schedules and triggers, and what has fired. */
export function AutomationPage() {
  const app = useApp();
  const scope = useScope();
  const { tab } = automationSearch.read(route.useSearch());
  const plans = useQuery(activePlansQuery(app, scope));
  const runs = useQuery({ ...nextRunsQuery(app, scope), enabled: tab === "schedules" });
  const triggers = useQuery({ ...triggersQuery(app, scope), enabled: tab === "triggers" });
  const firings = useQuery({ ...firingsQuery(app, scope), enabled: tab === "firings" });
  const [isCreating, setCreating] = useState(false);
  const [told, setTold] = useState<ToldSecret>();
  const acts = useTriggerActs(scope, setTold);
  const { refusal } = useRights(scope);
  usePageTitle("Schedules & triggers");
  const shown = { schedules: plans, triggers, firings }[tab];
  return (
    <>
      <ListPage
        title="Schedules & triggers"
        acts={
          <Button icon="plus" refused={refusal("contributor")} onClick={() => setCreating(true)}>
            New trigger
          </Button>
        }
        tabs={
          <Tabs
            label="Views of schedules and triggers"
            tabs={AUTOMATION_TABS.map((id) => ({ id, title: TITLES[id], search: automationSearch.write({ tab: id }) }))}
            current={tab}
          />
        }
      >
        {shown.error !== null && shown.data === undefined && (
          <ErrorPanel title={`The ${tab} cannot be listed`} error={shown.error} onRetry={() => void shown.refetch()} />
        )}
        {tab === "schedules" && plans.data !== undefined && (
          <ScheduleTable scope={scope} plans={plans.data.filter((plan) => scheduleText(plan) !== undefined)} runs={runs.data ?? []} />
        )}
        {tab === "triggers" && triggers.data !== undefined && <TriggerTable scope={scope} triggers={triggers.data} acts={acts} />}
        {tab === "firings" && firings.data !== undefined && <FiringTable scope={scope} firings={firings.data} />}
      </ListPage>
      {isCreating && (
        <TriggerDialog
          scope={scope}
          launchPlans={(plans.data ?? []).map(({ id }) => id?.name ?? "")}
          onClose={() => setCreating(false)}
          onCreate={(trigger) => {
            setCreating(false);
            acts.create(trigger);
          }}
        />
      )}
      {told !== undefined && <SecretDialog told={told} onClose={() => setTold(undefined)} />}
    </>
  );
}
