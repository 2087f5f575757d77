import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Card } from "../../control/card.js";
import { ErrorPanel } from "../../control/error-panel.js";
import { PhaseMark } from "../../control/phase-mark.js";
import { Pill } from "../../control/pill.js";
import { Time } from "../../control/time.js";
import { formatDuration } from "../../format/duration.js";
import { SCOPE_PATH } from "../../frame/navigation.js";
import { usePageTitle } from "../../frame/use-page-title.js";
import { useScope } from "../../frame/use-scope.js";
import { useApp } from "../../app/app.js";
import { FirstRun } from "./first-run.js";
import styles from "./home-page.module.css";
import { failuresQuery, RECENT, recentQuery } from "./queries.js";
import { medianMs, succeededShare, workflowRuns } from "./summary.js";
import { WorkflowTable } from "./workflow-table.js";

/** State of a project and domain: failures first, then its workflows. */
export function HomePage() {
  const app = useApp();
  const scope = useScope();
  const recent = useQuery(recentQuery(app, scope));
  const failures = useQuery(failuresQuery(app, scope));
  usePageTitle(`${scope.project} / ${scope.domain}`);
  if (recent.isError && recent.data === undefined)
    return <ErrorPanel title="The executions cannot be listed" error={recent.error} onRetry={() => void recent.refetch()} />;
  const { rows = [], isAll = true } = recent.data ?? {};
  const share = succeededShare(rows);
  const median = medianMs(rows);
  const span = isAll ? "all executions" : `last ${RECENT} executions`;
  return (
    <div className={styles.page}>
      <h1 className={styles.title}>
        {scope.project} / {scope.domain}
      </h1>
      {recent.data !== undefined && rows.length === 0 ? (
        <FirstRun />
      ) : (
        <div className={styles.grid}>
          <div className={styles.column}>
            <dl className={styles.figures}>
              <Figure name="Running now" value={String(rows.filter(({ look }) => !look.terminal).length)} />
              <Figure name="Failed, 24 h" value={failures.data === undefined ? "" : String(failures.data.length)} />
              <Figure name="Succeeded" value={share === undefined ? "–" : `${Math.round(share * 100)} %`} note={span} />
              <Figure name="Median duration" value={median === undefined ? "–" : formatDuration(median)} />
            </dl>
            <Card title="Workflows" note={`${span}, failing ones first`}>
              <WorkflowTable scope={scope} runs={workflowRuns(rows)} />
            </Card>
          </div>
          <Card
            title="Needs attention"
            note={<Pill kind={failures.data?.length ? "bad" : "ok"}>{String(failures.data?.length ?? "")}</Pill>}
          >
            <ul>
              {failures.data?.length === 0 && <li className={styles.none}>Nothing failed within 24 hours.</li>}
              {failures.data?.map(({ key, look, workflow, error, createdMs }) => (
                <li key={key.name}>
                  <Link to={`${SCOPE_PATH}/executions/$name`} params={key} className={styles.failure}>
                    <PhaseMark look={look} bare />
                    <span className={styles.text}>
                      <b>{workflow}</b>
                      <small>{error}</small>
                    </span>
                    <span className={styles.time}>
                      <Time timeMs={createdMs} />
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
          </Card>
        </div>
      )}
    </div>
  );
}

function Figure({ name, value, note }: { readonly name: string; readonly value: string; readonly note?: string }) {
  return (
    <div className={styles.figure}>
      <dt>{name}</dt>
      <dd>
        {value} {note !== undefined && <small>{note}</small>}
      </dd>
    </div>
  );
}
