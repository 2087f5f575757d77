import { Link } from "@tanstack/react-router";
import type { ExecutionKey } from "../../api/scope.js";
import { Dialog } from "../../control/dialog.js";
import { PhaseMark } from "../../control/phase-mark.js";
import { Code } from "../../control/pill.js";
import { EXECUTION_PHASES } from "../../format/phase.js";
import { SCOPE_PATH } from "../../frame/navigation.js";
import type { BulkResult } from "./bulk.js";
import styles from "./bulk-results.module.css";

const LOOKS = { waiting: EXECUTION_PHASES.QUEUED, ok: EXECUTION_PHASES.SUCCEEDED, bad: EXECUTION_PHASES.FAILED };

/** Result of an act for each execution, as they come. */
export function BulkResults({ results, onClose }: { readonly results: readonly BulkResult<ExecutionKey>[]; onClose(): void }) {
  const done = results.filter(({ outcome }) => outcome !== undefined).length;
  const failed = results.filter(({ outcome }) => outcome?.ok === false).length;
  return (
    <Dialog title={`${done} of ${results.length} done${failed === 0 ? "" : `, ${failed} failed`}`} onClose={onClose}>
      <ul className={styles.list}>
        {results.map(({ key, outcome }) => (
          <li key={key.name} className={styles.result}>
            <PhaseMark
              look={outcome === undefined ? LOOKS.waiting : outcome.ok ? LOOKS.ok : LOOKS.bad}
              text={outcome === undefined ? "waiting" : outcome.ok ? "done" : "failed"}
              bare
            />
            <Code>{key.name}</Code>
            {outcome?.ok === true && outcome.name !== undefined && (
              <Link to={`${SCOPE_PATH}/executions/$name`} params={{ ...key, name: outcome.name }} className={styles.link}>
                Open {outcome.name}
              </Link>
            )}
            {outcome?.ok === false && <span className={styles.reason}>{outcome.reason}</span>}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
