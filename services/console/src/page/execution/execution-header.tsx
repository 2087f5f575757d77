import type { ExecutionJson } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { Link } from "@tanstack/react-router";
import { type ExecutionRow, STARTER_ICONS } from "../../api/execution-row.js";
import type { ExecutionKey } from "../../api/scope.js";
import { Copy } from "../../control/copy.js";
import { Icon } from "../../control/icon.js";
import { PhaseMark } from "../../control/phase-mark.js";
import { Code, Pill } from "../../control/pill.js";
import { Duration, Time } from "../../control/time.js";
import { SCOPE_PATH } from "../../frame/navigation.js";
import { ExecutionActs } from "./execution-acts.js";
import styles from "./execution-header.module.css";

interface ExecutionHeaderProps {
  readonly executionKey: ExecutionKey;
  readonly row: ExecutionRow | undefined;
  readonly execution: ExecutionJson | undefined;
}

/** Name, phase, facts and acts of an execution. */
export function ExecutionHeader({ executionKey: key, row, execution }: ExecutionHeaderProps) {
  const { parentNodeExecution, referenceExecution } = execution?.spec?.metadata ?? {};
  return (
    <header className={styles.header}>
      <div className={styles.title}>
        <h1 className={styles.name}>{key.name}</h1>
        <Copy text={key.name} label="the name" />
        {row !== undefined && <PhaseMark look={row.look} />}
        {row?.tags.map((tag) => (
          <Pill key={tag}>{tag}</Pill>
        ))}
        {row !== undefined && <ExecutionActs executionKey={key} row={row} />}
      </div>
      {row !== undefined && (
        <div className={styles.facts}>
          <span>
            Workflow{" "}
            <Link to={`${SCOPE_PATH}/workflows/$name`} params={{ ...key, name: row.workflow }} className={styles.link}>
              {row.workflow}
            </Link>{" "}
            <Code dim>{row.version}</Code>
          </span>
          {row.launchPlan !== row.workflow && (
            <span>
              <Icon name="rocket" small />
              <Link to={`${SCOPE_PATH}/launchPlans/$name`} params={{ ...key, name: row.launchPlan }} className={styles.link}>
                {row.launchPlan}
              </Link>
            </span>
          )}
          <span>
            <Icon name={STARTER_ICONS[row.startedBy.kind]} small />
            {row.startedBy.name === "" ? "started without sign-in" : <b>{row.startedBy.name}</b>}
          </span>
          <span>
            <Icon name="clock" small />
            <b>
              <Time timeMs={row.createdMs} />
            </b>
            {row.startedMs === undefined ? (
              "· has not begun"
            ) : (
              <>
                {row.look.terminal ? "· ended after " : "· for "}
                <b>
                  <Duration durationMs={row.durationMs} sinceMs={row.startedMs} />
                </b>
              </>
            )}
          </span>
          {row.cluster !== "" && (
            <span>
              <Icon name="server" small />
              <b>{row.cluster}</b>
            </span>
          )}
          <Source prefix="Launched by" name={parentNodeExecution?.executionId?.name} scope={key} />
          <Source prefix="Copy of" name={referenceExecution?.name} scope={key} />
        </div>
      )}
      {execution?.closure?.abortMetadata?.cause !== undefined && (
        <p className={styles.cause}>
          Aborted{execution.closure.abortMetadata.principal ? ` by ${execution.closure.abortMetadata.principal}` : ""}:{" "}
          <bdi>{execution.closure.abortMetadata.cause}</bdi>
        </p>
      )}
    </header>
  );
}

function Source({ prefix, name, scope }: { readonly prefix: string; readonly name: string | undefined; readonly scope: ExecutionKey }) {
  if (name === undefined) return null;
  return (
    <span>
      <Icon name="branch" small />
      {prefix}{" "}
      <Link to={`${SCOPE_PATH}/executions/$name`} params={{ ...scope, name }} className={styles.link}>
        <Code>{name}</Code>
      </Link>
    </span>
  );
}
