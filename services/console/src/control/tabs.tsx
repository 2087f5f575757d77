import { Link } from "@tanstack/react-router";
import type { RawSearch } from "../route/search.js";
import { classes } from "./classes.js";
import styles from "./tabs.module.css";

export interface Tab {
  readonly id: string;
  readonly title: string;
  readonly count?: string | undefined;
  /** Query of the page with this tab. */
  readonly search: RawSearch;
}

/** Tabs that are links: each has an address. */
export function Tabs({ label, tabs, current }: { readonly label: string; readonly tabs: readonly Tab[]; readonly current: string }) {
  return (
    <nav className={styles.tabs} aria-label={label}>
      {tabs.map(({ id, title, count, search }) => (
        <Link
          key={id}
          to="."
          search={search}
          className={classes(styles.tab, id === current && styles.current)}
          aria-current={id === current ? "page" : undefined}
          activeProps={{}}
        >
          {title}
          {count !== undefined && <span className={styles.count}>{count}</span>}
        </Link>
      ))}
    </nav>
  );
}
