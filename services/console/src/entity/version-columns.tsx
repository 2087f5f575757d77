import { Code } from "../control/pill.js";
import type { Column } from "../control/table.js";
import { Time } from "../control/time.js";
import styles from "./cells.module.css";

/** A version of an entity. */
export interface VersionRow {
  readonly version: string;
  readonly createdMs: number | undefined;
  /** Description or interface. */
  readonly text: string;
}

export const VERSION_COLUMNS: readonly Column<VersionRow>[] = [
  { id: "version", title: "Version", track: "minmax(26ch, 1fr)", card: "topLeft", cell: ({ version }) => <Code>{version}</Code> },
  {
    id: "created",
    title: "Registered",
    track: "minmax(14ch, 0.5fr)",
    card: "topRight",
    cell: ({ createdMs }) => <Time timeMs={createdMs} />,
  },
  {
    id: "text",
    title: "Description",
    track: "minmax(30ch, 3fr)",
    card: "middle",
    cell: ({ text }) => (
      <span className={styles.text} title={text}>
        {text}
      </span>
    ),
  },
];
