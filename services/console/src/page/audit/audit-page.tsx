import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { AuditEntryJson } from "@flyte-ts/idl/flytets/admin/v1/access_pb";
import { useApp } from "../../app/app.js";
import { Empty, ErrorPanel } from "../../control/error-panel.js";
import { SearchInput } from "../../control/field.js";
import { ListPage } from "../../control/list-page.js";
import { Code, Pill } from "../../control/pill.js";
import { type Column, Table } from "../../control/table.js";
import { Time } from "../../control/time.js";
import cells from "../../entity/cells.module.css";
import { readTimeMs } from "../../format/time.js";
import { accessQuery } from "../../frame/queries.js";
import { usePageTitle } from "../../frame/use-page-title.js";
import { useScope } from "../../frame/use-scope.js";
import { auditSearch } from "../../route/automation-search.js";

const route = getRouteApi("/projects/$project/domains/$domain/audit");

/** Changes that callers requested in the project and domain, also refused ones. */
export function AuditPage() {
  const app = useApp();
  const { api } = app;
  const scope = useScope();
  const navigate = useNavigate();
  const search = auditSearch.read(route.useSearch());
  usePageTitle("Audit log");
  const access = useQuery(accessQuery(app, scope));
  // Without sign-in, callers have no subject and admin keeps no log.
  const isOff = access.data?.subject === "";
  const log = useInfiniteQuery({
    enabled: access.data !== undefined && !isOff,
    queryKey: ["audit", scope, search.subject],
    queryFn: ({ pageParam, signal }) => api.access.listAuditEntries(scope, { subject: search.subject, token: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ token }) => (token === undefined || token === "" ? undefined : token),
  });
  const entries = log.data?.pages.flatMap((page) => page.entries ?? []);
  return (
    <ListPage
      title="Audit log"
      acts={
        <SearchInput
          label="Subject of the caller"
          value={search.subject}
          onChange={({ target }) => void navigate({ to: ".", search: auditSearch.write({ subject: target.value }), replace: true })}
        />
      }
    >
      {isOff ? (
        <Empty title="There is no audit log">
          <p>Admin records changes and their callers when it requires sign-in (auth.mode: required, npm start -- --auth).</p>
        </Empty>
      ) : log.error !== null && entries === undefined ? (
        <ErrorPanel title="The audit log cannot be shown" error={log.error} onRetry={() => void log.refetch()} />
      ) : (
        entries !== undefined && (
          <Table
            label="Audit log"
            columns={COLUMNS}
            rows={entries}
            rowId={({ at, requestId }) => `${at ?? ""} ${requestId ?? ""}`}
            onEndInSight={() => {
              if (log.hasNextPage && !log.isFetchingNextPage && !log.isFetchNextPageError) void log.fetchNextPage();
            }}
            end={
              log.isFetchNextPageError ? (
                <ErrorPanel title="Earlier changes cannot be shown" error={log.error} onRetry={() => void log.fetchNextPage()} />
              ) : (
                entries.length === 0 && <Empty title="No change is recorded" />
              )
            }
          />
        )
      )}
    </ListPage>
  );
}

const COLUMNS: readonly Column<AuditEntryJson>[] = [
  { id: "at", title: "Time", track: "minmax(12ch, 0.4fr)", card: "topRight", cell: ({ at }) => <Time timeMs={readTimeMs(at)} /> },
  { id: "subject", title: "Caller", track: "minmax(16ch, 0.8fr)", card: "middle", cell: ({ subject }) => <Code>{subject}</Code> },
  {
    id: "method",
    title: "Call",
    track: "minmax(20ch, 1fr)",
    card: "bottomLeft",
    cell: ({ method = "" }) => <span title={method}>{method.slice(method.lastIndexOf("/") + 1)}</span>,
  },
  {
    id: "of",
    title: "Of",
    track: "minmax(24ch, 2fr)",
    cell: ({ identifiers }) => (
      <span className={cells.text} title={identifiers}>
        {identifiers}
      </span>
    ),
  },
  {
    id: "code",
    title: "Result",
    track: "minmax(18ch, 1fr)",
    card: "topLeft",
    cell: ({ code = "", message }) => (
      <span className={cells.soft} title={message}>
        <Pill kind={code === "OK" ? "ok" : code === "" ? "wait" : "bad"}>{code === "" ? "unknown" : code}</Pill>
        {message}
      </span>
    ),
  },
];
