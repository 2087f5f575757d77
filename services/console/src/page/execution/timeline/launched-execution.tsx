import type { WorkflowExecutionIdentifierJson } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { Link } from "@tanstack/react-router";
import { Icon } from "../../../control/icon.js";
import styles from "./node-pane.module.css";

/** Link to the execution that a node has launched; nothing without one. */
export function LaunchedExecution({ id }: { readonly id: WorkflowExecutionIdentifierJson | undefined }) {
  if (id === undefined) return null;
  const { project = "", domain = "", name = "" } = id;
  return (
    <p className={styles.facts}>
      Launched{" "}
      <Link to="/projects/$project/domains/$domain/executions/$name" params={{ project, domain, name }}>
        {name} <Icon name="external" small />
      </Link>
    </p>
  );
}
