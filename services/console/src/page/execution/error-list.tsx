import { classes } from "../../control/classes.js";
import { PhaseMark } from "../../control/phase-mark.js";
import { Time } from "../../control/time.js";
import { countOf } from "../../format/count.js";
import { EXECUTION_PHASES } from "../../format/phase.js";
import type { ErrorGroup, Failure } from "./error-groups.js";
import styles from "./error-list.module.css";

interface ErrorListProps {
  readonly groups: readonly ErrorGroup[];
  /** Some failures are not counted. */
  readonly isTruncated: boolean;
  readonly group: ErrorGroup;
  readonly failure: Failure;
  onGroup(group: ErrorGroup): void;
  onFailure(failure: Failure): void;
}

/** Kinds of error, and the nodes of the one that is chosen. */
export function ErrorList({ groups, isTruncated, group, failure, onGroup, onFailure }: ErrorListProps) {
  const all = groups.reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      <h2 className={styles.heading}>
        {countOf(groups.length, "kind of error", "kinds of error")}{" "}
        <span>
          {isTruncated && "more than "}
          {countOf(all, "node", "nodes")}
        </span>
      </h2>
      <ul>
        {groups.map((each) => (
          <li key={each.id}>
            <button
              type="button"
              className={classes(styles.group, each.id === group.id && styles.currentGroup)}
              aria-current={each.id === group.id || undefined}
              onClick={() => onGroup(each)}
            >
              <b>{each.title}</b>
              <small>
                {countOf(each.count, "node", "nodes")} · {each.code}
              </small>
            </button>
          </li>
        ))}
      </ul>
      <h2 className={styles.heading}>
        Nodes with this error{" "}
        <span>{group.count > group.failures.length ? `first ${group.failures.length} of ${group.count}` : group.count}</span>
      </h2>
      <ul>
        {group.failures.map((each) => (
          <li key={each.node ?? ""}>
            <button
              type="button"
              className={classes(styles.node, each.node === failure.node && styles.currentNode)}
              aria-current={each.node === failure.node || undefined}
              onClick={() => onFailure(each)}
            >
              <PhaseMark look={EXECUTION_PHASES.FAILED} bare />
              <span className={styles.name}>
                <FailureName {...each} />
              </span>
              <span className={styles.time}>
                <Time timeMs={each.failedMs} />
              </span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Names a failed node by its task and its id. */
function FailureName({ node, task }: Failure) {
  if (task === "" || task === node) return node ?? "the execution";
  return (
    <>
      {task} <small>{node}</small>
    </>
  );
}
