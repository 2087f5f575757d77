import { errorTitle } from "../../format/error-title.js";
import type { TaskExecutionJson } from "@flyte-ts/idl/flyteidl/admin/task_execution_pb";
import { Icon } from "../../control/icon.js";
import { PhaseMark } from "../../control/phase-mark.js";
import { Duration, Time } from "../../control/time.js";
import { readDurationMs } from "../../format/duration.js";
import { nodePhaseLook } from "../../format/phase.js";
import { readTimeMs } from "../../format/time.js";
import styles from "./attempts.module.css";
import { webLink } from "./web-link.js";

/** Attempts of a node, the last one first, with the links to their logs. */
export function Attempts({ attempts }: { readonly attempts: readonly TaskExecutionJson[] }) {
  const sorted = attempts.toSorted((one, other) => (other.id?.retryAttempt ?? 0) - (one.id?.retryAttempt ?? 0));
  return (
    <section className={styles.attempts} aria-label="Attempts">
      <h3 className={styles.heading}>Attempts</h3>
      <ol>
        {sorted.map(({ id, closure }) => (
          <li key={id?.retryAttempt} className={styles.attempt}>
            <PhaseMark look={nodePhaseLook(closure?.phase)} text={`Attempt ${(id?.retryAttempt ?? 0) + 1}`} />
            <span className={styles.message}>
              {closure?.error ? errorTitle(closure.error.message ?? "", closure.error.code ?? "") : closure?.reason}
            </span>
            {closure?.logs?.map(({ uri, name }) => {
              const href = webLink(uri);
              return (
                href !== undefined && (
                  <a key={uri} href={href} className={styles.log} target="_blank" rel="noopener noreferrer">
                    {name === undefined || name === "" ? "Log" : name} <Icon name="external" small />
                  </a>
                )
              );
            })}
            <span className={styles.time}>
              <Time timeMs={readTimeMs(closure?.startedAt ?? closure?.createdAt)} /> ·{" "}
              <Duration durationMs={readDurationMs(closure?.duration)} />
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
