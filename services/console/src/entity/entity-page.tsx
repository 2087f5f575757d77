import type { ReactNode } from "react";
import { Copy } from "../control/copy.js";
import { type Tab, Tabs } from "../control/tabs.js";
import styles from "./entity-page.module.css";

interface EntityPageProps {
  /** Kind of the entity in words: `Workflow`. */
  readonly kind: string;
  readonly name: string;
  readonly facts: ReactNode;
  /** Buttons beside the title. */
  readonly acts?: ReactNode;
  readonly tabs: readonly Tab[];
  readonly tab: string;
  readonly children: ReactNode;
}

/** Frame of the page of a workflow, launch plan or task. */
export function EntityPage({ kind, name, facts, acts, tabs, tab, children }: EntityPageProps) {
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <div className={styles.title}>
          <h1 className={styles.name}>{name}</h1>
          <Copy text={name} label="the name" />
          <span className={styles.acts}>{acts}</span>
        </div>
        <div className={styles.facts}>
          <span>{kind}</span>
          {facts}
        </div>
      </header>
      <Tabs label={`Views of the ${kind.toLowerCase()}`} tabs={tabs} current={tab} />
      <div className={styles.content}>{children}</div>
    </div>
  );
}
