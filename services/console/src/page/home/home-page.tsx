import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { GetOverviewResponseJson, WorkflowHealthJson } from "@flyte-ts/idl/flytets/admin/v1/overview_pb";
import type { Scope } from "../../api/scope.js";
import { useApp } from "../../app/app.js";
import { Card } from "../../control/card.js";
import { classes } from "../../control/classes.js";
import { ErrorPanel } from "../../control/error-panel.js";
import { Segments } from "../../control/segments.js";
import { readDurationMs } from "../../format/duration.js";
import { executionPhaseLook } from "../../format/phase.js";
import { readTimeMs } from "../../format/time.js";
import { usePageTitle } from "../../frame/use-page-title.js";
import { useScope } from "../../frame/use-scope.js";
import { type HomeSearch, homeSearch, PERIOD_HOURS } from "../../route/list-search.js";
import { AttentionCard } from "./attention/attention-card.js";
import { FirstRun } from "./first-run.js";
import styles from "./home-page.module.css";
import { NextRuns } from "./next-runs.js";
import { ExecutionsChart } from "./period/executions-chart.js";
import { Figures } from "./period/figures.js";
import { overviewQuery } from "./queries.js";
import { byAttention, runsOf, type WorkflowRuns } from "./summary.js";
import { WorkflowTable } from "./workflow-table.js";

const route = getRouteApi("/projects/$project/domains/$domain/");
const HOUR_MS = 3_600_000;
const TITLES: Readonly<Record<HomeSearch["period"], string>> = { "6h": "6 h", "24h": "24 h", "7d": "7 d" };
const PERIODS = (["6h", "24h", "7d"] as const).map((id) => ({ id, title: TITLES[id] }));

/** State of a project and domain. */
export function HomePage() {
  const app = useApp();
  const scope = useScope();
  const navigate = useNavigate();
  const { period } = homeSearch.read(route.useSearch());
  const { data, error, refetch } = useQuery(overviewQuery(app, scope, period));
  usePageTitle(`${scope.project} / ${scope.domain}`);
  if (error !== null && data === undefined)
    return <ErrorPanel title="The state of the project cannot be read" error={error} onRetry={() => void refetch()} />;
  const isEmpty = data !== undefined && (data.workflows ?? []).length === 0;
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <h1 className={styles.title}>
          {scope.project} / {scope.domain}
        </h1>
        {!isEmpty && (
          <Segments
            label="Period"
            choices={PERIODS}
            current={period}
            onChoose={(next) => void navigate({ to: ".", search: homeSearch.write({ period: next }) })}
          />
        )}
      </header>
      {isEmpty && <FirstRun scope={scope} />}
      {data !== undefined && !isEmpty && <Overview scope={scope} overview={data} period={period} />}
    </div>
  );
}

interface OverviewProps {
  readonly scope: Scope;
  readonly overview: GetOverviewResponseJson;
  readonly period: HomeSearch["period"];
}

function Overview({ scope, overview, period }: OverviewProps) {
  const { buckets = [], workflows = [], nextRuns = [], asOf } = overview;
  const bucketMs = readDurationMs(overview.bucket) ?? HOUR_MS;
  const title = TITLES[period];
  return (
    <div className={styles.grid}>
      <div className={styles.column}>
        <Figures overview={overview} period={title} />
        <Card title="Executions" note={`by start and end, ${title}`}>
          <ExecutionsChart
            buckets={buckets}
            bucketMs={bucketMs}
            endMs={readTimeMs(asOf) ?? 0}
            count={Math.ceil((PERIOD_HOURS[period] * HOUR_MS) / bucketMs)}
          />
        </Card>
        <Card title="Workflows" note="failing ones first">
          <WorkflowTable scope={scope} runs={workflows.flatMap((each) => health(scope, each)).sort(byAttention)} />
        </Card>
      </div>
      <div className={classes(styles.column, styles.side)}>
        <AttentionCard scope={scope} overview={overview} period={title} />
        {nextRuns.length > 0 && <NextRuns scope={scope} runs={nextRuns} />}
      </div>
    </div>
  );
}

function health(scope: Scope, { name: workflow = "", runs = [] }: WorkflowHealthJson): readonly WorkflowRuns[] {
  return runsOf(
    workflow,
    runs.map(({ execution = "", phase, createdAt, duration }) => ({
      key: { ...scope, name: execution },
      look: executionPhaseLook(phase),
      createdMs: readTimeMs(createdAt),
      durationMs: readDurationMs(duration),
    })),
  );
}
