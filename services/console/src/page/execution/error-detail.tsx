import type { WorkflowExecutionIdentifierJson } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { useQuery } from "@tanstack/react-query";
import { Button } from "../../control/button.js";
import { Copy } from "../../control/copy.js";
import { PhaseMark } from "../../control/phase-mark.js";
import { Pill } from "../../control/pill.js";
import { VisibleText } from "../../control/visible-text.js";
import { EXECUTION_PHASES } from "../../format/phase.js";
import { useApp } from "../../app/app.js";
import { firstFailedItem, isArrayAttempt } from "./array-failure.js";
import { Attempts } from "./attempts.js";
import styles from "./error-detail.module.css";
import type { ErrorGroup, Failure } from "./error-groups.js";
import { NodeLog } from "./log/node-log.js";
import { nodeTitle } from "./node-title.js";
import { attemptsQuery, nodeQuery } from "./queries.js";
import type { ExecutionSearch } from "../../route/execution-search.js";
import { splitTraceback } from "./traceback.js";

interface ErrorDetailProps {
  readonly group: ErrorGroup;
  readonly failure: Failure;
  readonly executionKey: WorkflowExecutionIdentifierJson;
  readonly search: ExecutionSearch;
  onChange(next: Partial<ExecutionSearch>): void;
}

/**
 * Message of a failure in full, its own frames first in sight, the node's attempts, and the log of
 * the last one.
 */
export function ErrorDetail({ group, failure, executionKey, search, onChange }: ErrorDetailProps) {
  const { project = "", domain = "", name = "" } = executionKey;
  const { node } = failure;
  const { code, kind } = group;
  const app = useApp();
  const key = { project, domain, name };
  const whole = useQuery({
    ...nodeQuery(app, key, node ?? ""),
    enabled: node !== undefined && node !== group.failures[0]?.node,
  });
  const message = whole.data?.closure?.error?.message ?? group.message;
  const { data: attempts } = useQuery({ ...attemptsQuery(app, key, node ?? ""), enabled: node !== undefined });
  const isArray = attempts?.some(isArrayAttempt) === true;
  const chosen = node === search.node ? search.item : "";
  const item = isArray ? chosen || (firstFailedItem(message) ?? "") : "";
  return (
    <section className={styles.detail} aria-label="Error">
      <h2 className={styles.title}>
        <PhaseMark look={EXECUTION_PHASES.FAILED} bare />
        {node === undefined ? "The execution" : nodeTitle(node, attempts)}
        <Pill kind="bad">{kind === "USER" ? "user error" : kind === "SYSTEM" ? "system error" : "error"}</Pill>
        <Pill>{code}</Pill>
        {item !== "" && <Pill>item {item}</Pill>}
        {attempts !== undefined && attempts.length > 1 && <Pill>{attempts.length} attempts</Pill>}
        <span className={styles.copy}>
          <Copy text={message} label="the error" />
        </span>
      </h2>
      <Message message={message} />
      {attempts !== undefined && attempts.length > 0 && <Attempts attempts={attempts} />}
      {node !== undefined && isArray && (
        <div className={styles.items}>
          <span>{item === "" ? "Each item has its own log." : `The log below is that of item ${item}.`}</span>
          <Button onClick={() => onChange({ tab: "timeline", node, pane: "items", item: "" })}>Show all items</Button>
        </div>
      )}
      {node !== undefined && attempts !== undefined && attempts.length > 0 && (!isArray || item !== "") && (
        <div className={styles.log}>
          <NodeLog
            key={`${node}/${item}`}
            executionKey={key}
            node={node}
            attempt={node === search.node ? search.attempt : ""}
            item={item}
            onAttempt={(attempt) => onChange({ node, attempt, item })}
          />
        </div>
      )}
    </section>
  );
}

function Message({ message }: { readonly message: string }) {
  const parts = splitTraceback(message);
  return (
    // A region that scrolls can be reached with the keyboard.
    <div className={styles.message} tabIndex={0} role="region" aria-label="Message">
      {parts.map(({ kind, lines, libraries }, index) =>
        kind === "foreign" ? (
          <details key={index} className={styles.foreign}>
            <summary>
              + {lines.length} lines of {libraries.join(", ")}
            </summary>
            <pre className={styles.text}>
              <VisibleText text={lines.join("\n")} />
            </pre>
          </details>
        ) : (
          <pre key={index} className={styles.text}>
            <VisibleText text={lines.join("\n")} />
          </pre>
        ),
      )}
    </div>
  );
}
