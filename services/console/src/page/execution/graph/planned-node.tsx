import { IconButton } from "../../../control/button.js";
import type { SelectedNode } from "../../../graph/graph-props.js";
import styles from "../timeline/node-pane.module.css";

interface PlannedNodeProps {
  readonly node: SelectedNode;
  onClose(): void;
}

/** Selected node that has not begun: all that is known of it is in the workflow. */
export function PlannedNode({ node: { name, kind, path }, onClose }: PlannedNodeProps) {
  return (
    <aside className={styles.pane} aria-label={`Node ${path}`}>
      <h2 className={styles.title}>
        <span className={styles.name}>{name}</span>
        <IconButton icon="close" label="Close" onClick={onClose} />
      </h2>
      <p className={styles.facts}>
        {kind} · {path}
      </p>
      <p>It has not begun.</p>
    </aside>
  );
}
