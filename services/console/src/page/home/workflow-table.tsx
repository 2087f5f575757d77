import { Link } from "@tanstack/react-router";
import type { Scope } from "../../api/scope.js";
import { PhaseMark } from "../../control/phase-mark.js";
import { RunStrip } from "../../control/run-strip.js";
import { Time } from "../../control/time.js";
import { formatDuration } from "../../format/duration.js";
import { SCOPE_PATH } from "../../frame/navigation.js";
import type { WorkflowRuns } from "./summary.js";
import styles from "./workflow-table.module.css";

/** Workflows with their latest runs. */
export function WorkflowTable({ scope, runs }: { readonly scope: Scope; readonly runs: readonly WorkflowRuns[] }) {
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th scope="col">Workflow</th>
          <th scope="col">Last runs</th>
          <th scope="col" className={styles.end}>
            Succeeded
          </th>
          <th scope="col" className={styles.wide}>
            Median
          </th>
          <th scope="col">Last</th>
        </tr>
      </thead>
      <tbody>
        {runs.map(({ workflow, runs: members, succeeded, medianMs, last }) => (
          <tr key={workflow}>
            <td>
              <Link to={`${SCOPE_PATH}/workflows/$name`} params={{ ...scope, name: workflow }} className={styles.name} title={workflow}>
                {workflow}
              </Link>
            </td>
            <td>
              <RunStrip runs={members} />
            </td>
            <td className={styles.end}>{succeeded === undefined ? "–" : `${Math.round(succeeded * 100)} %`}</td>
            <td className={styles.wide}>{medianMs === undefined ? "–" : formatDuration(medianMs)}</td>
            <td>
              <Link to={`${SCOPE_PATH}/executions/$name`} params={last.key} className={styles.last}>
                <PhaseMark look={last.look} bare />
                <Time timeMs={last.createdMs} />
              </Link>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
