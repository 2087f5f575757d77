import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { ExecutionRow } from "../../api/execution-row.js";
import { Button } from "../../control/button.js";
import { Empty, ErrorPanel } from "../../control/error-panel.js";
import { Key, Pill } from "../../control/pill.js";
import { Table } from "../../control/table.js";
import { useScope } from "../../frame/use-scope.js";
import { usePageTitle } from "../../frame/use-page-title.js";
import { useKeys } from "../../app/use-keys.js";
import { type ExecutionsSearch, executionsSearch } from "../../route/executions-search.js";
import { useApp, usePreferences } from "../../app/app.js";
import { BulkBar } from "./bulk-bar.js";
import { executionColumns } from "../../execution-list/columns.js";
import styles from "./executions-page.module.css";
import { Filters } from "./filters.js";
import { mergeRows } from "./merge-rows.js";
import { executionsQuery, newestQuery, openRowsQuery } from "./queries.js";
import { Views } from "./views.js";

const route = getRouteApi("/projects/$project/domains/$domain/executions");

/** List of the executions of a project and domain. */
export function ExecutionsPage() {
  const app = useApp();
  const scope = useScope();
  const navigate = useNavigate();
  const client = useQueryClient();
  const { zone } = usePreferences();
  const search = executionsSearch.read(route.useSearch());
  const list = useInfiniteQuery(executionsQuery(app, scope, search));
  const first = list.data?.pages[0];
  const newest = useQuery({
    ...newestQuery(app, scope, search),
    enabled: first !== undefined,
    ...(first && { initialData: first.rows.slice(0, 30), initialDataUpdatedAt: list.dataUpdatedAt }),
  });
  useQuery({
    ...openRowsQuery(app, scope, search),
    enabled: first !== undefined,
    ...(first && { initialData: first.rows.length, initialDataUpdatedAt: list.dataUpdatedAt }),
  });
  const merged = mergeRows(list.data?.pages.map((page) => page.rows) ?? [], search.order === "newest" ? (newest.data ?? []) : []);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [current, setCurrent] = useState<number>();
  const { rows, fresh } = merged;
  usePageTitle("Executions");

  const change = (next: Partial<ExecutionsSearch>): void => {
    setCurrent(undefined);
    void navigate({ to: ".", search: executionsSearch.write({ ...search, ...next }) });
  };
  const toggle = ({ key }: ExecutionRow): void => {
    const next = new Set(selected);
    if (!next.delete(key.name)) next.add(key.name);
    setSelected(next);
  };
  const showNew = (): void => void client.resetQueries({ queryKey: ["executions", scope, search] });
  const move = (step: number): void => setCurrent(Math.max(0, Math.min(rows.length - 1, (current ?? -1) + step)));
  const row = current === undefined ? undefined : rows[current];
  useKeys([
    { keys: "j", label: "Next", group: "List", run: () => move(1) },
    { keys: "k", label: "Previous", group: "List", run: () => move(-1) },
    { keys: "x", label: "Select", group: "List", run: () => row && toggle(row) },
    { keys: "/", label: "Find by name", group: "List", run: () => document.getElementById("find-executions")?.focus() },
    { keys: ".", label: "Show new executions", group: "List", run: showNew },
  ]);

  const more = list.hasNextPage ? "+" : "";
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <h1 className={styles.title}>Executions</h1>
        {list.data !== undefined && <Pill>{`${rows.length}${more} match`}</Pill>}
        <Views search={search} onChange={change} scope={scope} />
      </header>
      <Filters search={search} onChange={change} />
      <div className={styles.table}>
        {fresh > 0 && (
          <button type="button" className={styles.fresh} onClick={showNew}>
            {fresh === 30 ? "30 or more new executions" : `${fresh} new ${fresh === 1 ? "execution" : "executions"}`} · show
          </button>
        )}
        {list.isError && list.data === undefined ? (
          <ErrorPanel title="The executions cannot be listed" error={list.error} onRetry={() => void list.refetch()} />
        ) : list.data !== undefined && rows.length === 0 ? (
          <Empty title="No execution matches">
            <p>Remove a filter, or start one: pyflyte run --remote example.py training_workflow</p>
            <Button onClick={() => change(executionsSearch.read({}))}>Remove all filters</Button>
          </Empty>
        ) : (
          <Table
            label="Executions"
            columns={executionColumns({ selected, toggle })}
            rows={rows}
            rowId={({ key }) => key.name}
            isSelected={({ key }) => selected.has(key.name)}
            current={current}
            total={list.hasNextPage ? -1 : undefined}
            onEndInSight={() => list.hasNextPage && !list.isFetchingNextPage && !list.isFetchNextPageError && void list.fetchNextPage()}
            end={
              list.isFetchNextPageError && (
                <ErrorPanel title="Older executions cannot be listed" error={list.error} onRetry={() => void list.fetchNextPage()} />
              )
            }
          />
        )}
      </div>
      {selected.size > 0 && (
        <BulkBar scope={scope} rows={rows.filter(({ key }) => selected.has(key.name))} onClear={() => setSelected(new Set())} />
      )}
      <footer className={styles.footer}>
        <span>{list.data === undefined ? "Loading …" : `${rows.length} loaded${list.hasNextPage ? ", more below" : ""}`}</span>
        <span className={styles.keys}>
          <Key>j</Key> <Key>k</Key> move
        </span>
        <span className={styles.keys}>
          <Key>x</Key> select
        </span>
        <span className={styles.keys}>
          <Key>↵</Key> open
        </span>
        <span className={styles.keys}>
          <Key>?</Key> all keys
        </span>
        <span className={styles.zone}>Times in {zone === "local" ? "local time" : zone}</span>
      </footer>
    </div>
  );
}
