import { useQuery } from "@tanstack/react-query";
import { Navigate } from "@tanstack/react-router";
import { Empty, ErrorPanel } from "../../control/error-panel.js";
import { SCOPE_PATH } from "../../frame/navigation.js";
import { projectsQuery } from "../../frame/queries.js";
import { useApp, usePreferences } from "../../app/app.js";

/** Entry: leads to the project and domain that were open last, else to the first ones. */
export function StartPage() {
  const { scope } = usePreferences();
  const { data, error, refetch } = useQuery({ ...projectsQuery(useApp()), enabled: scope === undefined });
  if (scope !== undefined) return <Navigate to={SCOPE_PATH} params={scope} replace />;
  if (error !== null) return <ErrorPanel title="The projects cannot be listed" isPage error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return null;
  const [first] = data.projects ?? [];
  const domain = first?.domains?.[0]?.id;
  if (first?.id === undefined || domain === undefined) return <Empty title="There is no project yet" />;
  return <Navigate to={SCOPE_PATH} params={{ project: first.id, domain }} replace />;
}
