import { getRouteApi } from "@tanstack/react-router";
import { CardPage } from "../../control/card-page.js";
import { Tabs } from "../../control/tabs.js";
import { usePageTitle } from "../../frame/use-page-title.js";
import { useScope } from "../../frame/use-scope.js";
import { SETTINGS_TABS, settingsSearch } from "../../route/platform-search.js";
import { AttributesCard } from "./attributes-card.js";
import { DeliveriesCard } from "./deliveries-card.js";
import { RetentionCard } from "./retention-card.js";

const route = getRouteApi("/projects/$project/domains/$domain/settings");
const TITLES = { attributes: "Attributes", retention: "Retention", notifications: "Notifications" } as const;

/** Settings of the project and domain. */
export function SettingsPage() {
  const scope = useScope();
  const { tab } = settingsSearch.read(route.useSearch());
  usePageTitle("Settings");
  return (
    <CardPage
      title="Settings"
      tabs={
        <Tabs
          label="Kinds of settings"
          tabs={SETTINGS_TABS.map((id) => ({ id, title: TITLES[id], search: settingsSearch.write({ tab: id }) }))}
          current={tab}
        />
      }
    >
      {tab === "attributes" && <AttributesCard scope={scope} />}
      {tab === "retention" && <RetentionCard scope={scope} />}
      {tab === "notifications" && <DeliveriesCard scope={scope} />}
    </CardPage>
  );
}
