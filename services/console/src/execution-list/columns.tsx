import { Link } from "@tanstack/react-router";
import { type ExecutionRow, STARTER_ICONS } from "../api/execution-row.js";
import { Icon } from "../control/icon.js";
import { PhaseMark } from "../control/phase-mark.js";
import { Code } from "../control/pill.js";
import type { Column } from "../control/table.js";
import { Duration, Time } from "../control/time.js";
import { SCOPE_PATH } from "../frame/navigation.js";
import styles from "./columns.module.css";

interface Selection {
  readonly selected: ReadonlySet<string>;
  toggle(row: ExecutionRow): void;
}

const phase: Column<ExecutionRow> = {
  id: "phase",
  title: "Phase",
  track: "minmax(14ch, 0.7fr)",
  card: "topLeft",
  cell: ({ look }) => <PhaseMark look={look} />,
};

const name: Column<ExecutionRow> = {
  id: "name",
  title: "Execution",
  track: "minmax(22ch, 1.1fr)",
  card: "bottomLeft",
  cell: ({ key, tags }) => (
    <>
      <Link to={`${SCOPE_PATH}/executions/$name`} params={key} className={styles.name}>
        <Code>{key.name}</Code>
      </Link>
      {tags.map((tag) => (
        <span key={tag} className={styles.tag}>
          {tag}
        </span>
      ))}
    </>
  ),
};

const workflow: Column<ExecutionRow> = {
  id: "workflow",
  title: "Workflow",
  track: "minmax(26ch, 2fr)",
  card: "middle",
  cell: ({ key: { project, domain }, workflow: title, version, launchPlan }) => (
    <>
      <Link to={`${SCOPE_PATH}/workflows/$name`} params={{ project, domain, name: title }} className={styles.workflow} title={title}>
        {title}
      </Link>
      <Code dim>{version}</Code>
      {launchPlan !== title && <span className={styles.plan}>by {launchPlan}</span>}
    </>
  ),
};

const startedBy: Column<ExecutionRow> = {
  id: "by",
  title: "Started by",
  track: "minmax(12ch, 0.9fr)",
  card: "bottomRight",
  cell: ({ startedBy: { kind, name: starter } }) => (
    <span className={styles.soft}>
      <Icon name={STARTER_ICONS[kind]} small />
      <span className={styles.clip}>{starter === "" ? "no sign-in" : starter}</span>
    </span>
  ),
};

const started: Column<ExecutionRow> = {
  id: "started",
  title: "Started",
  track: "minmax(12ch, 0.6fr)",
  card: "topRight",
  cell: ({ createdMs, durationMs, startedMs }) => (
    <span className={styles.soft}>
      <Time timeMs={createdMs} />
      <span className={styles.onCard}>
        · <Duration durationMs={durationMs} sinceMs={startedMs} />
      </span>
    </span>
  ),
};

const duration: Column<ExecutionRow> = {
  id: "duration",
  title: "Duration",
  track: "minmax(10ch, 0.5fr)",
  end: true,
  cell: ({ durationMs, startedMs }) => <Duration durationMs={durationMs} sinceMs={startedMs} />,
};

/** Columns of the list of executions, with a box for the selection. */
export function executionColumns(selection: Selection | undefined): readonly Column<ExecutionRow>[] {
  const columns = [phase, name, workflow, startedBy, started, duration];
  return selection === undefined ? columns : [selectColumn(selection), ...columns];
}

function selectColumn({ selected, toggle }: Selection): Column<ExecutionRow> {
  return {
    id: "select",
    title: "Select",
    track: "var(--select)",
    hiddenTitle: true,
    card: "select",
    cell: (row) => (
      <input
        type="checkbox"
        className={styles.box}
        aria-label={`Select ${row.key.name}`}
        checked={selected.has(row.key.name)}
        onChange={() => toggle(row)}
      />
    ),
  };
}
