import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { ErrorPanel } from "../../control/error-panel.js";
import { Tabs } from "../../control/tabs.js";
import { usePageTitle } from "../../frame/use-page-title.js";
import { useKeys } from "../../app/use-keys.js";
import { type ExecutionSearch, executionSearch } from "../../route/execution-search.js";
import { useApp } from "../../app/app.js";
import { nodeTablePath } from "../../node-table/table-path.js";
import { Suspense } from "react";
import { NodeCounts } from "./counts/node-counts.js";
import { ExecutionHeader } from "./execution-header.js";
import styles from "./execution-page.module.css";
import { ExecutionJsonView } from "./execution-json-view.js";
import { Errors, GraphTab, InputsAndOutputs, Settings } from "./lazy-views.js";
import { errorGroupsQuery, executionQuery } from "./queries.js";
import { shownTab, TAB_TITLES } from "./shown-tab.js";
import { TimelineTab } from "./timeline/timeline-tab.js";
import { useStreamedLook } from "./timeline/use-streamed-look.js";
import { useTableStream } from "./timeline/use-table-stream.js";
import { useReadOnChange } from "./timeline/use-read-on-change.js";

const route = getRouteApi("/projects/$project/domains/$domain/executions/$name");

/** Views whose whole content scrolls: a region that scrolls can be reached with the keyboard. */
const SCROLLED: ReadonlySet<string> = new Set(["io", "settings", "json"]);

/** An execution: its header, and a view of it. */
export function ExecutionPage() {
  const app = useApp();
  const navigate = useNavigate();
  const { project, domain, name } = route.useParams();
  const key = { project, domain, name };
  const search = executionSearch.read(route.useSearch());
  const { data, error, refetch } = useQuery(executionQuery(app, key));
  const client = useTableStream(nodeTablePath(key));
  useReadOnChange(client, key, data?.execution);
  const streamed = useStreamedLook(client);
  const look = data?.row.look ?? streamed;
  const hasErrors = look?.kind === "bad" || look?.kind === "stop";
  const tab = shownTab(search.tab, look);
  const failures = useQuery({ ...errorGroupsQuery(app, key, look?.terminal === true), enabled: hasErrors && tab === "errors" });
  const failedNodes = (failures.data?.groups ?? []).reduce((sum, { count = 0 }) => sum + count, 0);
  usePageTitle(name);
  const change = (next: Partial<ExecutionSearch>): void =>
    void navigate({ to: ".", search: executionSearch.write({ ...search, ...next }) });
  useKeys(
    TAB_TITLES.map(({ id, title, key: letter }) => ({
      keys: letter,
      label: title,
      group: "Execution" as const,
      run: () => change({ tab: id }),
    })),
  );
  if (error !== null && data === undefined)
    return (
      <div className={styles.page}>
        <ExecutionHeader executionKey={key} row={undefined} execution={undefined} />
        <ErrorPanel title="The execution cannot be shown" error={error} onRetry={() => void refetch()} />
      </div>
    );
  const tabs = TAB_TITLES.filter(({ id }) => id !== "errors" || hasErrors).map(({ id, title }) => ({
    id,
    title,
    ...(id === "errors" && failedNodes > 0 && { count: String(failedNodes) }),
    search: executionSearch.write({ ...search, tab: id }),
  }));
  // The other views have parts that scroll by themselves.
  const shown = TAB_TITLES.find(({ id }) => id === tab && SCROLLED.has(id));
  return (
    <div className={styles.page}>
      <ExecutionHeader executionKey={key} row={data?.row} execution={data?.execution} />
      {client !== undefined && (
        <NodeCounts client={client} chosen={search.groups} onChoose={(groups) => change({ groups, tab: "timeline" })} />
      )}
      <Tabs label="Views of the execution" tabs={tabs} current={tab ?? ""} />
      <div className={styles.content} {...(shown !== undefined && { tabIndex: 0, role: "region", "aria-label": shown.title })}>
        {tab === "timeline" && client !== undefined && <TimelineTab executionKey={key} client={client} search={search} onChange={change} />}
        <Suspense>
          {data !== undefined && tab === "errors" && (
            <Errors execution={data.execution} errors={failures} search={search} onChange={change} />
          )}
          {tab === "graph" && client !== undefined && <GraphTab executionKey={key} client={client} search={search} onChange={change} />}
          {data !== undefined && tab === "io" && <InputsAndOutputs executionKey={key} ended={data.row.look.terminal} />}
          {data !== undefined && tab === "settings" && <Settings execution={data.execution} />}
          {data !== undefined && tab === "json" && <ExecutionJsonView execution={data.execution} />}
        </Suspense>
      </div>
    </div>
  );
}
