import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ErrorPanel } from "../../control/error-panel.js";
import { Pill } from "../../control/pill.js";
import { Table } from "../../control/table.js";
import { EntityPage } from "../../entity/entity-page.js";
import { interfaceText } from "../../entity/interface-text.js";
import { runsQuery, taskVersionsQuery } from "../../entity/queries.js";
import { LaunchButton } from "../../entity/launch-button.js";
import { Runs } from "../../entity/runs.js";
import { VERSION_COLUMNS, type VersionRow } from "../../entity/version-columns.js";
import { readTimeMs } from "../../format/time.js";
import { usePageTitle } from "../../frame/use-page-title.js";
import { useScope } from "../../frame/use-scope.js";
import { entitySearch } from "../../route/list-search.js";
import { useApp } from "../../app/app.js";

const route = getRouteApi("/projects/$project/domains/$domain/tasks/$name");

/** A task: its versions, and the executions that ran it alone. */
export function TaskPage() {
  const app = useApp();
  const scope = useScope();
  const { name } = route.useParams();
  const search = entitySearch.read(route.useSearch());
  const runs = useQuery(runsQuery(app, scope, { kind: "task", name }));
  const versions = useQuery(taskVersionsQuery(app, scope, name));
  usePageTitle(name);
  const error = versions.error ?? runs.error;
  if (error !== null && versions.data === undefined)
    return <ErrorPanel title={`The task ${name} cannot be shown`} isPage error={error} onRetry={() => void versions.refetch()} />;
  const template = versions.data?.[0]?.closure?.compiledTask?.template;
  const rows = versions.data?.map(
    ({ id, closure, shortDescription = "" }): VersionRow => ({
      version: id?.version ?? "",
      createdMs: readTimeMs(closure?.createdAt),
      text: shortDescription === "" ? interfaceText(closure?.compiledTask?.template?.interface) : shortDescription,
    }),
  );
  const write = (tab: typeof search.tab) => entitySearch.write({ ...search, tab });
  return (
    <EntityPage
      kind="Task"
      name={name}
      acts={<LaunchButton scope={scope} search={{ task: name }} />}
      facts={
        <>
          {template?.type !== undefined && <Pill>{template.type}</Pill>}
          {template?.container?.image !== undefined && (
            <span>
              Image <bdi>{template.container.image}</bdi>
            </span>
          )}
        </>
      }
      tab={search.tab}
      tabs={[
        { id: "runs", title: "Executions of it alone", search: write("runs") },
        { id: "versions", title: "Versions", count: rows && String(rows.length), search: write("versions") },
      ]}
    >
      {search.tab === "versions" ? (
        <Table label="Versions" columns={VERSION_COLUMNS} rows={rows ?? []} rowId={({ version }) => version} />
      ) : (
        <Runs rows={runs.data} />
      )}
    </EntityPage>
  );
}
