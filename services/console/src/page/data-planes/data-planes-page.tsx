import { useQuery } from "@tanstack/react-query";
import { useApp } from "../../app/app.js";
import { CardPage } from "../../control/card-page.js";
import { useEverywhereRole } from "../../frame/use-role.js";
import { usePageTitle } from "../../frame/use-page-title.js";
import { useScope } from "../../frame/use-scope.js";
import { AgentsCard } from "./agents-card.js";
import { ClusterResourcesCard } from "./cluster-resources-card.js";
import { ClustersCard } from "./clusters-card.js";
import { PluginServicesCard } from "./plugin-services-card.js";
import { waitsQuery } from "./queries.js";
import { WaitsCard } from "./waits-card.js";

/** Data planes with their state, what waits for them, and what they hold of the project. */
export function DataPlanesPage() {
  const scope = useScope();
  const role = useEverywhereRole();
  const waits = useQuery(waitsQuery(useApp(), scope));
  usePageTitle("Data planes");
  return (
    <CardPage title="Data planes">
      {role !== undefined && <ClustersCard isAllowed={role === "admin"} />}
      {role === "admin" && <PluginServicesCard />}
      <WaitsCard scope={scope} waits={waits.data} error={waits.error} />
      {role === "admin" && <ClusterResourcesCard scope={scope} />}
      {role === "admin" && <AgentsCard />}
    </CardPage>
  );
}
