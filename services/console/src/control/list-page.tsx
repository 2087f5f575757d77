import type { ReactNode } from "react";
import styles from "./list-page.module.css";

interface ListPageProps {
  readonly title: string;
  /** Short facts beside the title. */
  readonly facts?: ReactNode;
  /** Filters and buttons at the end of the title's line. */
  readonly acts?: ReactNode;
  /** Tabs below the title. */
  readonly tabs?: ReactNode;
  readonly children: ReactNode;
}

/** Frame of a page that is a list: its title, filters and acts, and the list below. */
export function ListPage({ title, facts, acts, tabs, children }: ListPageProps) {
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <h1 className={styles.title}>{title}</h1>
        {facts}
        <span className={styles.acts}>{acts}</span>
      </header>
      {tabs}
      <div className={styles.content}>{children}</div>
    </div>
  );
}
