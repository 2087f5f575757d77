import { Link } from "@tanstack/react-router";
import type { NextRunJson } from "@flyte-ts/idl/flytets/admin/v1/schedule_pb";
import type { Scope } from "../../api/scope.js";
import { useNow } from "../../app/app.js";
import { Card } from "../../control/card.js";
import { Icon } from "../../control/icon.js";
import { Time } from "../../control/time.js";
import { formatAge } from "../../format/duration.js";
import { readTimeMs } from "../../format/time.js";
import { SCOPE_PATH } from "../../frame/navigation.js";
import styles from "./next-runs.module.css";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Scheduled runs that start next. */
export function NextRuns({ scope, runs }: { readonly scope: Scope; readonly runs: readonly NextRunJson[] }) {
  return (
    <Card title="Next to start" note="schedules">
      <ul>
        {runs.map(({ launchPlan, scheduledAt, executionName }) => (
          <li key={executionName} className={styles.run}>
            <Icon name="calendar" small />
            <Link to={`${SCOPE_PATH}/launchPlans/$name`} params={{ ...scope, name: launchPlan?.name ?? "" }} className={styles.name}>
              {launchPlan?.name}
            </Link>
            <span className={styles.time}>
              <Until timeMs={readTimeMs(scheduledAt)} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Time of a run: how long until it within an hour, else the time. */
function Until({ timeMs }: { readonly timeMs: number | undefined }) {
  const left = (timeMs ?? 0) - useNow(MINUTE_MS);
  return left > 0 && left < HOUR_MS ? <span>in {formatAge(left)}</span> : <Time timeMs={timeMs} />;
}
