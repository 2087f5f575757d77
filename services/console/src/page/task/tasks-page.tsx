import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import type { Column } from "../../control/table.js";
import styles from "../../entity/cells.module.css";
import { NameList } from "../../entity/name-list.js";
import { SCOPE_PATH } from "../../frame/navigation.js";
import { namesQuery } from "../../frame/queries.js";
import { usePageTitle } from "../../frame/use-page-title.js";
import { useScope } from "../../frame/use-scope.js";
import { listSearch } from "../../route/list-search.js";
import { useApp } from "../../app/app.js";

const route = getRouteApi("/projects/$project/domains/$domain/tasks");

/** Tasks of a project and domain. */
export function TasksPage() {
  const app = useApp();
  const scope = useScope();
  const navigate = useNavigate();
  const search = listSearch.read(route.useSearch());
  const names = useQuery(namesQuery(app, scope, "task"));
  usePageTitle("Tasks");
  const name: Column<string> = {
    id: "name",
    title: "Task",
    track: "minmax(28ch, 1fr)",
    card: "middle",
    cell: (title) => (
      <Link to={`${SCOPE_PATH}/tasks/$name`} params={{ ...scope, name: title }} className={styles.name}>
        {title}
      </Link>
    ),
  };
  return (
    <NameList
      title="Tasks"
      columns={[name]}
      rows={names.data?.entities?.map((entity) => entity.name ?? "")}
      rowId={(row) => row}
      error={names.error}
      text={search.text}
      none={<p>Register some: pyflyte register .</p>}
      onText={(text) => void navigate({ to: ".", search: listSearch.write({ ...search, text }), replace: true })}
      onRetry={() => void names.refetch()}
    />
  );
}
