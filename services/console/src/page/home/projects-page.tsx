import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Card } from "../../control/card.js";
import { Empty, ErrorPanel } from "../../control/error-panel.js";
import { SCOPE_PATH } from "../../frame/navigation.js";
import { projectsQuery } from "../../frame/queries.js";
import { usePageTitle } from "../../frame/use-page-title.js";
import { useApp } from "../../app/app.js";
import styles from "./projects-page.module.css";

/** All projects and their domains. */
export function ProjectsPage() {
  const { data, error, refetch } = useQuery(projectsQuery(useApp()));
  usePageTitle("Projects");
  return (
    <div className={styles.page}>
      <h1 className={styles.title}>Projects</h1>
      {error !== null && <ErrorPanel title="The projects cannot be listed" error={error} onRetry={() => void refetch()} />}
      {data?.projects?.length === 0 && <Empty title="There is no project yet" />}
      <div className={styles.projects}>
        {data?.projects?.map(({ id = "", name, description, domains = [] }) => (
          <Card key={id} title={name ?? id} note={id === name ? "" : id}>
            {description !== undefined && description !== "" && <p className={styles.description}>{description}</p>}
            <ul className={styles.domains}>
              {domains.map(({ id: domain = "", name: domainName }) => (
                <li key={domain}>
                  <Link to={SCOPE_PATH} params={{ project: id, domain }} className={styles.domain}>
                    {domainName ?? domain}
                  </Link>
                </li>
              ))}
            </ul>
          </Card>
        ))}
      </div>
    </div>
  );
}
